"""Real pictures for experiments, read from the folder that ``ALTMIN_DATA`` names."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Faces:
    """Faces of 50 x 50 pixels between 0 and 1; no person of ``test`` is in ``train``."""

    train: NDArray[Any]
    test: NDArray[Any]
    made: str


def data_folder() -> Path | None:
    """The folder with real data, or None."""
    name = os.environ.get("ALTMIN_DATA")
    return Path(name) if name else None


def load_faces(folder: Path, side: int = 50, fold: int = 0) -> Faces:
    """About 1000 faces for training and 41 of other people, from ORL and Yale.

    ORL (112 x 92) is cropped to its middle 92 rows, Yale is the aligned 64 x 64 version; both are averaged
    down to ``side`` by areas. Of ORL people 37 to 39 and of Yale person 14 are left out for the test (the
    settings of our dictionaries were chosen on these; other folds leave out the people before them). The
    training images (524) are doubled by their mirror images.

    Parameters
    ----------
    folder : Path
        With ``olivetti/orl_112x92.npz`` and ``yale/yale_64x64.npz``.
    side : int
        Pixels of a side.
    fold : int
        Which people are left out.

    Returns
    -------
    Faces
        Training and test images.
    """
    orl, yale = (np.load(folder / name) for name in ("olivetti/orl_112x92.npz", "yale/yale_64x64.npz"))
    images = [shrink(orl["images"][:, 10:102], side), shrink(yale["images"], side)]
    held_out = [(39 - orl["person"]) // 3 == fold, 14 - yale["person"] == fold]
    train = np.concatenate([x[~out] for x, out in zip(images, held_out, strict=True)])
    test = np.concatenate([x[out] for x, out in zip(images, held_out, strict=True)])
    train = np.concatenate([train, train[:, :, ::-1]])
    made = (
        f"{len(train)} training faces of {side} x {side} (ORL's middle 92 rows and the aligned Yale faces, "
        f"averaged down by areas, with their mirror images), {len(test)} test faces of 4 people unseen"
    )
    return Faces(train / 255.0, test / 255.0, made)


def load_set12(folder: Path) -> dict[str, NDArray[Any]]:
    """The grey test images of Set12 that are there, by name, in units of 0 to 255.

    Parameters
    ----------
    folder : Path
        With ``images_set12/*.png``.

    Returns
    -------
    dict
        Name to image.
    """
    from PIL import Image

    paths = sorted((folder / "images_set12").glob("*.png"))
    return {path.stem: np.asarray(Image.open(path)).astype(np.float64) for path in paths}


def shrink(images: NDArray[Any], side: int) -> NDArray[Any]:
    """Average images (n, H, W) down to (n, side, side) by areas."""
    rows, columns = (_areas(extent, side) for extent in images.shape[1:])
    return np.einsum("ih,nhw,jw->nij", rows, images.astype(np.float64), columns, optimize=True)


def _areas(extent: int, side: int) -> NDArray[Any]:
    """Share of each of ``extent`` pixels in each of ``side`` larger ones."""
    edges, pixel = np.linspace(0, extent, side + 1), np.arange(extent)
    shared = np.minimum(edges[1:, None], pixel + 1) - np.maximum(edges[:-1, None], pixel)
    shared = np.maximum(shared, 0.0)
    return shared / shared.sum(axis=1, keepdims=True)
