"""
Why the threshold has to fall
=============================

*What is the one idea in AND?* Decoded weights that should be zero aren't quite, because the features are
still wrong. A threshold removes them, and the next features are better. But a threshold that stays also
removes small true weights, and the error stops falling. It has to fall with the error: Li and Liang's
Figure 2, and how :class:`altmin.AND` reads the right threshold off the data.
"""

import tempfile

import matplotlib.pyplot as plt
import numpy as np

from altmin import AND
from altmin.datasets import make_dir
from altmin.metrics import total_correlation_error

problem = make_dir(n_samples=2000, n_features=200, n_components=20, concentration=2.5, random_state=0)


def trajectory(**options):
    """Total error after each stage; a checkpoint is extended, so nothing runs twice."""
    stages = np.arange(4, 100, 4)
    with tempfile.TemporaryDirectory() as folder:
        fits = [AND(20, max_iter=stage, checkpoint=folder, **options).fit(problem.X) for stage in stages]
    return stages, [total_correlation_error(fit.components_, problem.components) for fit in fits]


# %%
# The paper's schedule starts near the truth; 'auto' starts from the data alone.
given = {"init": problem.start, "inner_steps": 50}
runs = {
    "constant .1": {"threshold": 0.1, **given},
    "constant .01": {"threshold": 0.01, **given},
    "the paper's: .1 / 1.1$^s$": {"threshold": (0.1, 1.1), **given},
    "auto, from the data alone": {},
}
curves = {name: trajectory(**options) for name, options in runs.items()}

# %%
figure, ax = plt.subplots()
styles = ("tab:red", "tab:orange", "0.5", "tab:blue")
for (name, (stages, errors)), colour in zip(curves.items(), styles, strict=True):
    ax.semilogy(stages, errors, "o-", ms=4, color=colour, label=name)
ax.set(xlabel="stage", ylabel="total error of 20 topics", title="A threshold that falls with the error")
ax.legend(title="thresholds", loc="lower left")
plt.show()
