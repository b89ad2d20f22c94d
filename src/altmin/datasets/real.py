"""Real data: where it comes from, and whether it is here.

altmin ships none of it. Part is inside pip packages; the rest lies in a folder that ``ALTMIN_DATA`` names.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

_FOLDER = {
    "olivetti/olivetti.npz": ("Olivetti faces, 400 images of 64 x 64", "key images"),
    "yale/yale_64x64.npz": ("Yale faces, 165 images of 64 x 64", "key images"),
    "newsgroups20/newsgroups20_bow.npz": ("20 newsgroups, 18846 x 12725 word counts", "CSR keys"),
    "nips_1_12/nips_bow.npz": ("NIPS papers, 1740 x 13649 word counts", "CSR keys"),
    "movielens_latest_small/movielens_latest_small.npz": (
        "MovieLens, 100836 ratings",
        "keys user, item, rating2x",
    ),
    "uci_regression/uci_regression.npz": ("seven UCI regression tables", "keys <name>_X, <name>_y"),
    "images_set12/barbara.png": ("Set12 test images", "11 grey PNG files"),
    "mnist/mnist.npz": ("MNIST, 70000 digits of 28 x 28", "keys x_train, y_train, x_test, y_test"),
    "hyperspectral/samson.npz": ("Samson scene with ground truth, 156 bands", "keys Y, M, A, hw"),
    "hyperspectral/jasper_ridge.npz": (
        "Jasper Ridge scene with ground truth, 198 bands",
        "keys Y, M, A, hw, scale",
    ),
}
_PACKAGES = {
    "sklearn": ("digits, diabetes, china and flower", "scikit-learn"),
    "skimage": ("camera, astronaut, lfw_subset and other images", "scikit-image"),
    "tensorly": ("Indian Pines hyperspectral cube", "tensorly"),
    "lda": ("Reuters titles, 395 x 4258 word counts", "lda"),
}


@dataclass(frozen=True)
class DataSet:
    """A data set that experiments use."""

    name: str
    what: str
    here: bool
    how: str


def data_folder() -> Path | None:
    """The folder that ``ALTMIN_DATA`` names, or None."""
    name = os.environ.get("ALTMIN_DATA")
    return Path(name) if name else None


def available() -> list[DataSet]:
    """Every real data set that altmin's tests and experiments know, and whether it is here.

    Returns
    -------
    list of DataSet
        Inside pip packages first, then those of the data folder.

    Examples
    --------
    >>> from altmin.datasets.real import available
    >>> [entry.here for entry in available() if entry.name == "sklearn"]
    [True]
    """
    folder = data_folder()
    inside = [
        DataSet(module, what, find_spec(module) is not None, f"pip install {package}")
        for module, (what, package) in _PACKAGES.items()
    ]
    outside = [
        DataSet(
            path,
            what,
            folder is not None and (folder / path).exists(),
            f"put it at $ALTMIN_DATA/{path} ({layout})",
        )
        for path, (what, layout) in _FOLDER.items()
    ]
    return inside + outside
