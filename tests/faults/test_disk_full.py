"""Disk full: an error, and the last checkpoint intact."""

import resource
import subprocess
import sys

import numpy as np

from altmin import AND
from altmin.datasets import make_dir

SCRIPT = """
import resource, sys
from altmin import AND
from altmin.datasets import make_dir
limit = int(sys.argv[2])
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
try:
    X = make_dir(2000, 100, 8, random_state=0).X
    AND(8, max_iter=9, threshold=(.1, 1.1), checkpoint=sys.argv[1]).fit(X)
except OSError as error:
    print("refused:", error)
"""


def test_the_last_checkpoint_survives_a_full_disk(tmp_path):
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY
    X = make_dir(2000, 100, 8, random_state=0).X
    options = {"threshold": (0.1, 1.1)}
    AND(8, max_iter=4, checkpoint=tmp_path, **options).fit(X)
    sizes = [file.stat().st_size for file in tmp_path.iterdir()]
    code = f"import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n{SCRIPT}"
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path), str(min(sizes) // 2)], capture_output=True, text=True
    )
    assert "refused:" in done.stdout, done.stderr
    assert not list(tmp_path.glob(".*.tmp"))
    resumed = AND(8, max_iter=9, checkpoint=tmp_path, **options).fit(X)
    np.testing.assert_array_equal(resumed.components_, AND(8, max_iter=9, **options).fit(X).components_)
