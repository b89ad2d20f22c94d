"""``altmin signatures`` and ``altmin mixtures``: from a table of the field to a page."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from altmin.cli.tables import check_target
from altmin.cli.text_files import FileError
from altmin.report.page import draw_without_a_screen


def signatures_of(
    counts: Path, reference: str | None, number: int | None, out: Path, threshold: float
) -> None:
    """Find signatures in a table of counts, name them, and write a page."""
    from altmin.report.signatures_page import signatures_page
    from altmin.signatures import SignatureModel, match, read_reference, read_table, refit

    draw_without_a_screen()
    check_target(out, (".html",))
    table = read_table(counts)
    known = None if reference is None else read_reference(None if reference == "installed" else reference)
    print(f"{len(table)} samples, {len(table.channels)} channels ({table.kind})")
    model = SignatureModel("auto" if number is None else number).fit(table)
    if model.number_ is not None:
        print(model.number_)
    model.guarantee(table)
    matching = None if known is None else match(model, known, threshold=threshold)
    assigned = None
    if known is not None and matching is not None and matching.names():
        assigned = refit(table, known.select(matching.names()))
    for row in model.summary():
        stable = "" if row["stability"] is None else f", stability {row['stability']:.3f}"
        share = f"{row['share of mutations']:.1%} of the mutations"
        print(f"  {row['signature']}: {row['verdict']}{stable}, {share}")
    if matching is not None:
        print(matching)
    out.write_text(signatures_page(model, matching, assigned, title=counts.name), encoding="utf-8")
    print(f"page: {out.resolve()}")


def mixtures_of(
    spectra: str, number: int, runs: str | None, closure: float | None, unimodal: bool, out: Path
) -> None:
    """Resolve a table of spectra (one per row) and write a page with feasible bands."""
    from altmin.cli.fit import read_frame
    from altmin.cli.tables import Wanted
    from altmin.engine import open_source
    from altmin.mixtures import feasible_bands, resolve
    from altmin.report.mixtures_page import mixtures_page

    draw_without_a_screen()
    check_target(out, (".html",))
    source = open_source(read_frame(spectra, Wanted()).X).require_replayable("mixtures")
    X = np.asarray(source.read(0, source.n_rows).X)
    found = resolve(X, number, runs=_lengths(runs), closure=closure, unimodal=unimodal)
    bands = feasible_bands(found)
    print(found)
    print(bands)
    out.write_text(mixtures_page(found, bands, title=Path(spectra).name), encoding="utf-8")
    print(f"page: {out.resolve()}")


def _lengths(text: str | None) -> list[int] | None:
    if text is None:
        return None
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise FileError(
            f"--runs {text!r}: rows of each run, separated by commas, for example 51,51"
        ) from None
