"""``altmin fit --dask`` opens whatever ``altmin fit`` opens, and finds the same model."""

from __future__ import annotations

import contextlib
import io
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.io
import scipy.sparse as sp
from distributed import LocalCluster
from harness import Figure, promise

import altmin
from altmin.cli.fit import Order, fit_file
from altmin.datasets import make_dir, make_quadratic


def _parquet(path: Path, X: Any) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({f"c{i}": column for i, column in enumerate(X.T)}), path, row_group_size=700)


def _zarr(path: Path, X: Any) -> None:
    import zarr

    zarr.save_array(str(path), X)


def _folder(path: Path, X: Any) -> None:
    path.mkdir()
    np.save(path / "a.npy", X[:700])
    np.savez_compressed(path / "b.npz", X=X[700:])


KINDS: dict[str, Callable[[Path, Any], None]] = {
    "x.npy": np.save,
    "x.npz": lambda path, X: np.savez(path, X=X),
    "x.csv": lambda path, X: np.savetxt(path, X, delimiter=",", fmt="%.17g"),
    "x.parquet": _parquet,
    "x.mtx": lambda path, X: scipy.io.mmwrite(path, sp.coo_array(X)),
    "x.zarr": _zarr,
    "folder": _folder,
}


def _problems() -> dict[str, tuple[Any, Any, str, list[str], tuple[str, ...]]]:
    quadratic = make_quadratic(20_000, 40, 2, noise=0.1, random_state=0)
    settings = ["random_state=0", "max_iter=8"]
    return {
        "AND": (make_dir(3000, 200, 5, random_state=0).X, None, "5", settings, ("components_",)),
        "FactorizationMachineRegressor": (
            quadratic.X, quadratic.y, "2", settings, ("coef_", "factors_", "eigenvalues_"),
        ),
    }  # fmt: skip


@promise
def the_same_model_from_every_kind_of_file() -> Iterator[Figure]:
    """npy, npz, csv, parquet, mtx, zarr and a folder on LocalCluster(2): the bits of a local fit."""
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        tempfile.TemporaryDirectory() as name,
    ):
        for model, (X, y, size, options, attributes) in _problems().items():
            home = Path(name) / model
            home.mkdir()
            if y is not None:
                np.save(home / "y.npy", y)
            for kind, write in KINDS.items():
                write(home / kind, X)
                found = []
                for address in (None, cluster.scheduler_address):
                    out = home / f"{kind}-{address is None}.altmin"
                    target = None if y is None else str(home / "y.npy")
                    order = Order(
                        model, str(home / kind), out, int(size), target, options, None, address, True
                    )
                    with contextlib.redirect_stdout(io.StringIO()):
                        fit_file(order)
                    found.append(altmin.load(out))
                here, there = found
                differ = sum(int(np.sum(getattr(here, a) != getattr(there, a))) for a in attributes)
                yield Figure(f"{model}, {kind}: entries that differ", differ, at_most=0)
