"""
A signal from its intensities
=============================

*What was the signal, if only the sizes of its measurements were recorded?* Detectors of light see
intensities, phases are lost. :class:`altmin.PhaseRetrieval` finds a complex signal from :math:`y = |x^T
s|^2`, up to one global phase, which nothing can tell. How many measurements does it take?
"""

import matplotlib.pyplot as plt
import numpy as np

from altmin import PhaseRetrieval

rng = np.random.default_rng(0)
t = np.linspace(0, 1, 64)
signal = np.exp(-((t - 0.4) ** 2) / 0.02) * np.exp(40j * t**2) + 0.5j * (np.abs(t - 0.8) < 0.08)


def measure(n, rng):
    X = (rng.standard_normal((n, len(t))) + 1j * rng.standard_normal((n, len(t)))) / np.sqrt(2)
    return X, np.abs(X @ signal) ** 2


def align(found):
    phase = np.vdot(found, signal)
    return found * phase / abs(phase)


# %%
# The share of problems that are solved, against the number of measurements for each unknown.
ratios = [2, 2.5, 3, 3.5, 4, 5]
solved = []
for ratio in ratios:
    errors = []
    for seed in range(4):
        X, y = measure(int(ratio * len(t)), np.random.default_rng(seed))
        found = align(PhaseRetrieval(random_state=seed).fit(X, y).signal_)
        errors.append(np.linalg.norm(found - signal) / np.linalg.norm(signal))
    solved.append(np.mean(np.array(errors) < 1e-5))

# %%
# One of them, at five measurements for each unknown.
X, y = measure(5 * len(t), rng)
found = align(PhaseRetrieval(random_state=0).fit(X, y).signal_)

figure, (left, right) = plt.subplots(1, 2)
left.plot(t, signal.real, color="0.75", lw=6, label="the truth (real part)")
left.plot(t, found.real, color="tab:blue", label="found")
left.plot(t, signal.imag, color="0.88", lw=6, label="the truth (imaginary part)")
left.plot(t, found.imag, color="tab:red", lw=1.5, label="found")
left.set(title="From intensities alone", xlabel="t")
left.legend(fontsize=8, loc="lower right")
right.plot(ratios, solved, "o-")
right.set(title="How many are enough?", xlabel="measurements / unknowns", ylabel="share of problems solved")
plt.show()
