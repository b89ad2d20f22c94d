"""Tools of the field that find mutational signatures, each in an environment of its own.

``ALTMIN_SALAMANDER`` and ``ALTMIN_SIGPROFILER`` name the Python in which the tool is installed; without them
the tool is left out, and who asks for it is told so.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from altmin.signatures.channels import CHANNELS

_SALAMANDER = """
import sys, time, warnings
warnings.simplefilter("ignore")
import numpy as np, anndata
from salamander.models import KLNMF, MvNMF
folder, name = sys.argv[1], sys.argv[2]
Model = MvNMF if name == "mvnmf" else KLNMF
table = lambda X: anndata.AnnData(np.asarray(X, float))
small = np.random.default_rng(0).poisson(9, (9, 96)) + 1
Model(n_signatures=2, max_iterations=20).fit(table(small), history=False)
with np.load(folder + "/tables.npz") as tables:
    numbers = tables["numbers"]
    counts = [tables[f"counts{i}"] for i in range(len(numbers))]
for i, (X, K) in enumerate(zip(counts, numbers)):  # what it compiles is off the clock
    begin = time.process_time()
    model = Model(n_signatures=int(K))
    model.fit(table(X), history=False)
    spent = time.process_time() - begin
    np.savez(f"{folder}/found{i}.npz", signatures=np.asarray(model.asignatures.X), cpu=spent)
"""

_SIGPROFILER = """
import sys, time, resource
folder, K, replicates = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
from SigProfilerExtractor import sigpro
if __name__ == "__main__":
    sigpro.sigProfilerExtractor("matrix", folder + "/out", folder + "/counts.txt", minimum_signatures=K,
        maximum_signatures=K, nmf_replicates=replicates, cpu=1, make_decomposition_plots=False)
    spent = sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    open(folder + "/cpu.txt", "w").write(str(spent))
"""


def python_of(tool: str) -> str | None:
    """The Python that has 'salamander' or 'sigprofiler', or None."""
    path = os.environ.get(f"ALTMIN_{tool.upper()}")
    return path if path and Path(path).exists() else None


def salamander(
    tables: list[NDArray[Any]], numbers: list[int], model: str = "klnmf"
) -> list[tuple[NDArray[Any], float]]:
    """Signatures and CPU seconds of salamander's 'klnmf' or 'mvnmf' at its own settings, table by table."""
    with tempfile.TemporaryDirectory() as folder:
        named = {f"counts{i}": X for i, X in enumerate(tables)}
        np.savez(Path(folder) / "tables.npz", numbers=np.array(numbers), **named)  # type: ignore[arg-type]
        _run("salamander", _SALAMANDER, folder, model)
        results = []
        for i in range(len(tables)):
            with np.load(Path(folder) / f"found{i}.npz") as found:
                results.append((found["signatures"], float(found["cpu"])))
        return results


def sigprofiler(X: NDArray[Any], K: int, replicates: int) -> tuple[NDArray[Any], float]:
    """Signatures and CPU seconds of SigProfilerExtractor at its own settings, the true number given."""
    with tempfile.TemporaryDirectory() as folder:
        names = "\t".join(f"S{i}" for i in range(len(X)))
        lines = [
            f"{channel}\t" + "\t".join(str(int(v)) for v in column)
            for channel, column in zip(CHANNELS["SBS96"], X.T, strict=True)
        ]
        (Path(folder) / "counts.txt").write_text("\n".join([f"Mutation Types\t{names}", *lines]) + "\n")
        _run("sigprofiler", _SIGPROFILER, folder, K, replicates)
        found = next(Path(folder).rglob(f"SBS96_S{K}_Signatures.txt"))
        rows = [line.split("\t") for line in found.read_text().splitlines()[1:]]
        place = {row[0]: np.array(row[1:], float) for row in rows}
        cpu = float((Path(folder) / "cpu.txt").read_text())
        return np.array([place[channel] for channel in CHANNELS["SBS96"]]).T, cpu


def _run(tool: str, script: str, folder: str, *arguments: Any) -> None:
    path = python_of(tool)
    if path is None:
        raise FileNotFoundError(f"{tool} is not here: ALTMIN_{tool.upper()} names the Python that has it")
    file = Path(folder) / "script.py"
    file.write_text(script)
    one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    command = [path, str(file), folder, *map(str, arguments)]
    done = subprocess.run(command, env={**os.environ, **one}, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{tool} failed:\n{done.stderr[-2000:]}")


def kl_best_of_ten(X: NDArray[Any], K: int) -> tuple[NDArray[Any], float]:
    """scikit-learn's NMF with the Kullback-Leibler loss: best of ten random starts, up to 2000 iterations."""
    from sklearn.decomposition import NMF

    begin, best = time.process_time(), None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in range(10):
            model = NMF(
                K,
                init="random",
                solver="mu",
                beta_loss="kullback-leibler",
                max_iter=2000,
                tol=1e-6,
                random_state=seed,
            ).fit(X)
            if best is None or model.reconstruction_err_ < best.reconstruction_err_:
                best = model
    assert best is not None
    return best.components_, time.process_time() - begin
