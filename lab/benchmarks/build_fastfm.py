"""Build fastFM in an environment of its own, and print what to set.

    python lab/benchmarks/build_fastfm.py FOLDER

fastFM 0.2.10 builds only with cython<3 and setuptools<70, against numpy<2, after its shipped ffm.c was
deleted. Where a step fails the script says so and ends with status 1: benchmarks then skip fastFM.
"""

from __future__ import annotations

import subprocess
import sys
import tarfile
import venv
from pathlib import Path

TOOLS = ["cython<3", "setuptools<70", "wheel", "numpy<2", "scipy<1.12", "scikit-learn<1.4"]


def build(folder: Path) -> Path:
    """Create the environment and install fastFM into it; gives its interpreter."""
    venv.create(folder / "env", with_pip=True)
    python = folder / "env" / "bin" / "python"
    pip = [str(python), "-m", "pip", "-q"]
    subprocess.run([*pip, "install", *TOOLS], check=True)
    download = ["download", "--no-binary", ":all:", "--no-deps", "--no-build-isolation", "-d", str(folder)]
    subprocess.run([*pip, *download, "fastFM"], check=True)
    archive = next(folder.glob("fast*FM-*.tar.gz"))
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")
    sources = folder / archive.name.removesuffix(".tar.gz")
    (sources / "fastFM" / "ffm.c").unlink(missing_ok=True)
    subprocess.run([*pip, "install", "--no-build-isolation", "--no-deps", str(sources)], check=True)
    subprocess.run([str(python), "-c", "import fastFM.als, fastFM.sgd"], check=True, cwd=folder)
    return python


def main() -> int:
    """Build, or say why not."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "fastfm").resolve()
    folder.mkdir(parents=True, exist_ok=True)
    try:
        python = build(folder)
    except (subprocess.CalledProcessError, StopIteration, OSError) as error:
        print(f"fastFM could not be built: {error}")
        return 1
    print(f"export ALTMIN_FASTFM_PYTHON={python}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
