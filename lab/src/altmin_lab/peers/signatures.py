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
folder, K, name = sys.argv[1], int(sys.argv[2]), sys.argv[3]
X = np.load(folder + "/counts.npy")
begin = time.process_time()
model = (MvNMF if name == "mvnmf" else KLNMF)(n_signatures=K)
model.fit(anndata.AnnData(X), history=False)
found = np.asarray(model.asignatures.X)
np.savez(folder + "/found.npz", signatures=found, cpu=time.process_time() - begin)
"""

_SIGPROFILER = """
import sys, time, resource
folder, K = sys.argv[1], int(sys.argv[2])
from SigProfilerExtractor import sigpro
if __name__ == "__main__":
    sigpro.sigProfilerExtractor("matrix", folder + "/out", folder + "/counts.txt", minimum_signatures=K,
        maximum_signatures=K, nmf_replicates=100, cpu=1, make_decomposition_plots=False)
    spent = sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    open(folder + "/cpu.txt", "w").write(str(spent))
"""


def python_of(tool: str) -> str | None:
    """The Python that has 'salamander' or 'sigprofiler', or None."""
    path = os.environ.get(f"ALTMIN_{tool.upper()}")
    return path if path and Path(path).exists() else None


def salamander(X: NDArray[Any], K: int, model: str = "klnmf") -> tuple[NDArray[Any], float]:
    """Signatures and CPU seconds of salamander's 'klnmf' or 'mvnmf' at its own settings."""
    with tempfile.TemporaryDirectory() as folder:
        np.save(Path(folder) / "counts.npy", X)
        _run("salamander", _SALAMANDER, folder, K, model)
        with np.load(Path(folder) / "found.npz") as found:
            return found["signatures"], float(found["cpu"])


def sigprofiler(X: NDArray[Any], K: int) -> tuple[NDArray[Any], float]:
    """Signatures and CPU seconds of SigProfilerExtractor: 100 replicates, the true number given."""
    with tempfile.TemporaryDirectory() as folder:
        names = "\t".join(f"S{i}" for i in range(len(X)))
        lines = [
            f"{channel}\t" + "\t".join(str(int(v)) for v in column)
            for channel, column in zip(CHANNELS["SBS96"], X.T, strict=True)
        ]
        (Path(folder) / "counts.txt").write_text("\n".join([f"Mutation Types\t{names}", *lines]) + "\n")
        _run("sigprofiler", _SIGPROFILER, folder, K)
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
