"""How many materials the scenes with published truth have."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from harness import Figure, data_folder, promise

from altmin import AND, select_n_components
from altmin_lab.scenes import load_scene

SEED = int(os.environ.get("ALTMIN_SEED", "0"))


@promise
def close_on_published_scenes() -> Iterator[Figure]:
    """The true 3 (Samson) and 4 (Jasper Ridge) within 1."""
    folder = data_folder()
    if folder is None:
        raise SystemExit("real_scene_number needs ALTMIN_DATA, the folder with hyperspectral")
    for name, truth in (("samson", 3), ("jasper_ridge", 4)):
        cube = load_scene(Path(folder), name).cube
        pixels = cube.reshape(-1, cube.shape[2])
        for seed in range(SEED, SEED + 3):
            found = select_n_components(AND(2), pixels, range(2, 11), random_state=seed)
            off = abs(found.n_components - truth)
            yield Figure(f"{name}, splits {seed}: {found.n_components} suggested, off by", off, at_most=1)
