"""A photograph scrambled by a secret key: the key is found from the scrambled numbers alone.

The 8 x 8 blocks of the photograph are coded as in a JPEG file, coarsely, so most coefficients are zero. Their
32 busiest coefficients are multiplied by a secret 32 x 32 matrix. What comes out has no zeros, and looks like
noise; a complete dictionary learnt from it is the key.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from altmin import CompleteDictionaryLearning, OnlineDictionaryLearning
from altmin.demo.story import Story, side_by_side, story, timed
from altmin.metrics import match_components, sine_errors

_KEY_SIZE, _COARSENESS = 32, 120
_DOUBT = (
    "The key is known here, but not to the report: the details of a photograph go together, as those of a "
    "wrong key would, so it can't tell."
)


@dataclass(frozen=True)
class Photograph:
    """Blocks of a photograph as coefficients; those of ``busy`` are scrambled."""

    coefficients: NDArray[Any]
    busy: NDArray[Any]
    shape: tuple[int, int]

    @property
    def codes(self) -> NDArray[Any]:
        """What is multiplied by the key."""
        return self.coefficients[:, self.busy]

    def picture(self, codes: NDArray[Any], means: bool = True) -> NDArray[Any]:
        """The photograph with these in the place of its busy coefficients."""
        from scipy.fft import idctn

        filled = self.coefficients.copy()
        filled[:, 0] *= means
        filled[:, self.busy] = codes
        blocks = idctn(filled.reshape(-1, 8, 8) * _COARSENESS, axes=(1, 2), norm="ortho")
        high, wide = (side // 8 for side in self.shape)
        image = blocks.reshape(high, wide, 8, 8).swapaxes(1, 2).reshape(self.shape)
        return np.clip((image + 128) / 255, 0, 1)


def _china() -> Photograph:
    from scipy.fft import dctn
    from sklearn.datasets import load_sample_image

    grey = load_sample_image("china.jpg").mean(axis=2)
    high, wide = (side // 8 * 8 for side in grey.shape)
    blocks = grey[:high, :wide].reshape(high // 8, 8, wide // 8, 8).swapaxes(1, 2).reshape(-1, 8, 8)
    spectra = dctn(blocks - 128, axes=(1, 2), norm="ortho").reshape(-1, 64)
    coefficients = np.round(spectra / _COARSENESS)
    order = np.argsort(-(coefficients != 0).mean(axis=0))
    return Photograph(coefficients, order[1 : _KEY_SIZE + 1], (high, wide))  # the first is the mean


def _key(seed: int) -> NDArray[Any]:
    key = np.random.default_rng(seed).standard_normal((_KEY_SIZE, _KEY_SIZE))
    return np.asarray(key / np.linalg.norm(key, axis=1, keepdims=True))


@story
def key() -> Story:
    """The key of a scrambled photograph, and what scikit-learn's dictionary learning makes of it."""
    from sklearn.decomposition import MiniBatchDictionaryLearning

    photograph, secret = _china(), _key(0)
    X = photograph.codes @ secret
    seen = X[np.abs(X).sum(axis=1) > 0]
    model, seconds = timed(CompleteDictionaryLearning(random_state=0), seen)
    learner = MiniBatchDictionaryLearning(_KEY_SIZE, alpha=0.3, batch_size=256, max_iter=10, random_state=0)
    peer, peer_seconds = timed(learner, seen)  # alpha: its best of .03, .1, .3, 1
    index, cosine = match_components(model.components_, secret)
    scales = np.sign(cosine)[:, None] * model.components_[index]
    shown = {
        "what was sent": photograph.picture(X, means=False),
        "altmin's reading": photograph.picture(X @ np.linalg.inv(scales)),
        "the truth": photograph.picture(photograph.codes),
    }
    error, other = (sine_errors(m.components_, secret) for m in (model, peer))
    near = int((other < 0.14).sum())
    return Story(
        "Can a scrambled photograph be read without the key?",
        f"The details of a photograph, stored as in a JPEG file, were multiplied by a secret {_KEY_SIZE} x "
        f"{_KEY_SIZE} matrix. Given only the scrambled numbers, altmin finds the matrix to an error of "
        f"{error.max():.0e} in {seconds:.1f} s; scikit-learn's dictionary learning finds {near or 'none'} of "
        f"its {_KEY_SIZE} rows approximately, in {peer_seconds:.1f} s. "
        "(The order and the signs of the rows can't be known, and were given to both.)",
        "CompleteDictionaryLearning",
        "china.jpg (comes with scikit-learn)",
        "altmin.CompleteDictionaryLearning().fit(scrambled)",
        {"scrambled": lambda: side_by_side(shown)},
        model=model,
        doubt=_DOUBT,
    )


@story
def stream() -> Story:
    """The same as a stream, frame after frame, and the key is changed half-way."""
    photograph, rng = _china(), np.random.default_rng(0)
    codes = photograph.codes[np.abs(photograph.codes).sum(axis=1) > 0]
    model = OnlineDictionaryLearning(batch_size=200, start_size=3000, random_state=0)
    rows, errors, seen = [], [], 0
    for frame in range(8):
        secret = _key(frame // 4)
        for block in np.array_split(rng.permutation(codes), len(codes) // 200):
            model.partial_fit(block @ secret)
            seen += len(block)
            if hasattr(model, "components_"):
                rows.append(seen)
                errors.append(sine_errors(model.components_, secret).max())
    change = 4 * len(codes)
    later = [row - change for row, error in zip(rows, errors, strict=True) if row > change and error < 1e-6]
    first = min(error for row, error in zip(rows, errors, strict=True) if row <= change)
    ending = f"has the new key {later[0]:,} blocks later" if later else "has not found the new one by the end"
    return Story(
        "And if the key changes while we listen?",
        "The scrambled blocks arrive as a stream, and each is seen once. The online learner "
        "finds the key to "
        f"an error of {first:.0e}. After {change:,} blocks the key is changed: the learner notices, and "
        f"{ending} (error {errors[-1]:.0e}).",
        "OnlineDictionaryLearning",
        "china.jpg (comes with scikit-learn)",
        "model = altmin.OnlineDictionaryLearning(batch_size=200, start_size=3000)\n"
        "for block in stream:\n    model.partial_fit(block)",
        {"stream": lambda: _errors(rows, errors, change)},
        model=model,
        doubt=_DOUBT,
    )


def _errors(rows: list[int], errors: list[float], change: int) -> Any:
    """The error of the key as the blocks arrive."""
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots(figsize=(7.2, 3.2), layout="constrained")
    ax.semilogy(rows, errors)
    ax.axvline(change, color="C1", linestyle="--", label="the key is changed")
    ax.set(xlabel="blocks of the picture so far", ylabel="largest error of the key")
    ax.legend()
    return figure
