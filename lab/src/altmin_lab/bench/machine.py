"""The machine and the library versions that figures belong to."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

LIBRARIES = (
    *("altmin", "numpy", "scipy", "scikit-learn", "numba"),
    *("spams-bin", "ksvd", "myfm", "river", "bm3d", "scikit-image", "python-picard", "pyMCR", "tomotopy"),
)


def describe_machine() -> dict[str, Any]:
    """Processor, cores, memory, system, Python, BLAS and versions (None where a library is missing)."""
    from threadpoolctl import threadpool_info

    blas = {f"{pool['internal_api']} {pool['version']}" for pool in threadpool_info() if pool.get("version")}
    return {
        "processor": _field("/proc/cpuinfo", "model name") or platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "memory": _field("/proc/meminfo", "MemTotal"),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "blas": sorted(blas),
        "versions": {name: _version(name) for name in LIBRARIES},
    }


def _field(file: str, name: str) -> str | None:
    path = Path(file)
    lines = path.read_text().splitlines() if path.exists() else []
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith(name)), None)


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
