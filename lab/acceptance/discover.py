"""What :func:`altmin.discover` says of tables with a known answer."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

import numpy as np
from harness import Figure, promise

from altmin import discover
from altmin.metrics import sine_errors
from altmin_lab.planted_tables import plain, planted

PER_KIND = int(os.environ.get("ALTMIN_TABLES", "3"))
SEED = int(os.environ.get("ALTMIN_TABLES_SEED", "1"))


@promise
def structure() -> Iterator[Figure]:
    """Planted tables: the right family in 92 %, the number within one in 85 % of these, no lie."""
    right, near, false, admitted, wrong, slowest = 0, 0, 0, 0, 0, 0.0
    rows = list(planted(PER_KIND, SEED))
    for table in rows:
        begin = time.process_time()
        found = discover(table.X, table.y, random_state=0)
        slowest = max(slowest, time.process_time() - begin)
        hit = found.kind == table.family
        right += hit
        near += hit and abs(found.n_components - table.n_components) <= 1
        verdict = "" if found.guarantee is None else found.guarantee.verdict
        if not hit:
            wrong += 1
            admitted += verdict != "recovered"
        if verdict == "recovered" and table.factors is not None:
            same = len(found.best.components_) == len(table.factors)
            false += not same or sine_errors(found.best.components_, table.factors).max() > 0.1
        said = f"{found.kind} {found.n_components} {verdict}"
        print(f"  {table.kind}: {table.family} {table.n_components} -> {said}", flush=True)
    yield Figure(f"right family, {len(rows)} planted tables", right / len(rows), at_least=0.92)
    yield Figure("number within one, of these", near / max(right, 1), at_least=0.85)
    yield Figure("false 'recovered'", false, at_most=0)
    yield Figure("wrong answers that admit doubt", admitted / max(wrong, 1) if wrong else 1.0, at_least=0.5)
    yield Figure("slowest, CPU seconds", slowest, at_most=60)


@promise
def no_structure() -> Iterator[Figure]:
    """Tables without such structure: a family is claimed in at most 3 %."""
    rows = list(plain(PER_KIND, SEED))
    claimed = []
    for kind, table in rows:
        found = discover(table, random_state=0)
        claimed.append(found.best is not None)
        print(f"  {kind} {table.shape}: {found.kind} {found.n_components}", flush=True)
    yield Figure(f"claimed, of {len(rows)} tables without structure", float(np.mean(claimed)), at_most=0.03)
