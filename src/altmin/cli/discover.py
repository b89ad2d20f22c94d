"""``altmin discover``: what is in this table?"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from altmin.cli.fit import read_frame
from altmin.cli.report import image_shape_of
from altmin.cli.tables import Wanted, check_target


def discover_file(
    data: str, out: Path, wanted: Wanted, budget: str, image_shape: str | None, seed: int, quiet: bool
) -> None:
    """Discover what a file holds, print the answer, and write the page and the model beside it."""
    from altmin.discovery import discover
    from altmin.discovery.page import write_page
    from altmin.report.page import draw_without_a_screen

    check_target(out, (".html",))
    shape = image_shape_of(image_shape)
    frame = read_frame(data, wanted)
    found = discover(frame.X, frame.y, budget=budget, random_state=seed, verbose=not quiet)
    if frame.aside:
        note = f"Columns of ids or text, which were set aside: {', '.join(frame.aside)}."
        found = replace(found, notes=(*found.notes, note))
    if found.best is not None and frame.columns is not None:
        found.best.feature_names_in_ = np.array(frame.columns, dtype=object)
    draw_without_a_screen()
    write_page(found, out, Path(data).name, image_shape=shape, words=frame.columns)
    found.save(out.with_suffix(".altmin"))
    print(found)
    print(f"page: {out.resolve()}")
    if found.guarantee is not None:
        print(f"model: {out.with_suffix('.altmin')}")
