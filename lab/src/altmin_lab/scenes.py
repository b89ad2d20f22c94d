"""Hyperspectral scenes with published truth, read from the folder that ``ALTMIN_DATA`` names."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from altmin.datasets.scenes import Scene


def load_scene(folder: Path, name: str) -> Scene:
    """Samson (3 materials) or Jasper Ridge (4), F. Zhu et al. 2014.

    Parameters
    ----------
    folder : Path
        With ``hyperspectral/<name>.npz``: keys Y (bands, pixels), M (bands, materials), A (materials,
        pixels), hw, and scale where Y is stored as integers; pixels run down the columns.
    name : {'samson', 'jasper_ridge'}
        Which.

    Returns
    -------
    Scene
        Cube, spectra and abundances.
    """
    stored = np.load(folder / "hyperspectral" / f"{name}.npz")
    height, width = (int(size) for size in stored["hw"])
    scale = float(stored["scale"]) if "scale" in stored else 1.0

    def as_maps(table: np.ndarray) -> np.ndarray:
        return np.ascontiguousarray(table.T.reshape(width, height, -1).transpose(1, 0, 2), dtype=np.float64)

    return Scene(as_maps(stored["Y"]) / scale, stored["M"].T.astype(np.float64), as_maps(stored["A"]))
