"""A process that judges claims: one thread for BLAS, deaf to Ctrl-C, gone when its parent is.

Nothing heavy is imported here: the limits must stand before NumPy is loaded.
"""

from __future__ import annotations

import os
import warnings
from multiprocessing import parent_process
from pathlib import Path
from threading import Thread
from typing import Any


def start() -> None:
    """Set the process up.

    Two claims at once must not take each other's cores, so each has one thread. Ctrl-C reaches the parent
    alone, which ends its workers: inside a fit it would mean "stop early and keep what you have", and a
    claim would be judged on that.
    """
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"
    os.environ |= {"MPLBACKEND": "Agg", "TQDM_DISABLE": "1"}
    warnings.simplefilter("ignore")  # the ledger tells what came out; advice to users of a fit isn't for it
    if hasattr(os, "setpgrp"):
        os.setpgrp()
    Thread(target=_follow_parent, daemon=True).start()


def _follow_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def judge_group(names: list[str], quick: bool, results: Path) -> list[Any]:
    """Judge claims one after the other; findings are in their files before this returns."""
    from altmin_lab.finding import judge_claim
    from altmin_lab.ledger import all_claims

    claims = all_claims()
    return [judge_claim(claims[name], quick, results) for name in names]
