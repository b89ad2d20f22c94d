"""A cache of compiled loops that was torn or overwritten: they are compiled anew."""

import numpy as np
import pytest

numba = pytest.importorskip("numba")

from altmin.kernels import digests  # noqa: E402
from altmin.kernels.compiled import compiled  # noqa: E402


def test_a_torn_cache_is_no_error(tmp_path, monkeypatch):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    value = np.uint64(5)
    wanted = compiled(digests._mix._function)(value)
    (index,) = tmp_path.rglob("*.nbi")
    sound = index.read_bytes()
    middle = len(sound) // 2
    torn = (b"", sound[:middle], sound[:middle] + b"\xff" * 20 + sound[middle + 20 :], b"\xff" * len(sound))
    for damaged in torn:
        index.write_bytes(damaged)
        assert compiled(digests._mix._function)(value) == wanted


def test_errors_of_the_call_itself_are_raised():
    with pytest.raises(Exception, match="unicode_type"):
        compiled(digests._mix._function)("no number")
