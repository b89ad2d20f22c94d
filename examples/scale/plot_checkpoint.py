"""
Kill it, and go on
==================

*What is lost when a long fit is killed?* With ``checkpoint="folder"`` a fit saves its state as it goes.
Here a fit in another process is killed with SIGKILL in mid-flight, three times. The next one goes on where
the last one was, and ends in the same bits as one that was never disturbed.
"""

import itertools
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from altmin import AND
from altmin.datasets import make_dir

folder = Path(tempfile.mkdtemp())
problem = make_dir(n_samples=20_000, n_features=200, n_components=40, concentration=4, random_state=0)
np.save(folder / "X.npy", problem.X)
FIT = f"""
import numpy as np, altmin
altmin.AND(40, max_iter=100, checkpoint=r"{folder / "state"}").fit(np.load(r"{folder / "X.npy"}"))
"""

# %%
# Wait until there is a checkpoint, wait a little longer, kill.
lives = []
for _ in range(3):
    victim = subprocess.Popen([sys.executable, "-c", FIT])
    before = set(folder.glob("state/*"))
    while victim.poll() is None and set(folder.glob("state/*")) <= before:
        time.sleep(0.02)
    time.sleep(0.6)
    victim.send_signal(signal.SIGKILL)
    victim.wait()
    reached = AND(40, max_iter=1, checkpoint=folder / "state").fit(problem.X).n_iter_
    lives.append(reached)
print(f"killed in stages {lives}")

# %%
# The fourth life finishes; another fit was never disturbed.
resumed = AND(40, max_iter=100, checkpoint=folder / "state").fit(problem.X)
undisturbed = AND(40, max_iter=100).fit(problem.X)
same = bool((resumed.components_ == undisturbed.components_).all())
print(f"the same bits: {same}")

# %%
figure, ax = plt.subplots()
change = [row["change"] for row in undisturbed.history_]
ax.semilogy(np.arange(1, len(change) + 1), change, color="0.8", lw=7, label="never disturbed")
edges = [0, *lives, resumed.n_iter_]
again = [row["change"] for row in resumed.history_]
for life, (start, stop) in enumerate(itertools.pairwise(edges), start=1):
    ax.semilogy(np.arange(start + 1, stop + 1), again[start:stop], label=f"life {life}")
    if stop < resumed.n_iter_:
        ax.annotate("kill -9", (stop, again[stop - 1]), xytext=(12, 6), textcoords="offset points")
        ax.plot(stop, again[stop - 1], "x", color="tab:red", ms=10, mew=3)
ax.set(xlabel="stage", ylabel="change of the features")
ax.set_title(f"Killed three times; the same bits in the end: {'yes' if same else 'no'}")
ax.legend()
plt.show()
