"""
Topics that made the documents
==============================

*Which topics were these documents generated from?* Thirty topics generated 3000 documents of 400 words.
Given only the documents, :class:`altmin.AND` finds the topics. scikit-learn's NMF explains the documents as
well, but after 500 iterations it has not found the topics yet.
"""

import tempfile

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import NMF

from altmin import AND
from altmin.datasets import make_dir
from altmin.metrics import sine_errors, total_correlation_error

problem = make_dir(n_samples=3000, n_features=400, n_components=30, concentration=2.5, random_state=0)

# %%
# Nothing but the number of topics is given. The report says whether to believe the result: 'plausible', as
# the documents alone can't rule out topics that lie a little further apart. (If for each topic some documents
# were nearly about it alone, ``assume="pure"`` would say so. Here they aren't, and it is the true topics
# below that show that it found them.)
model = AND(n_components=30).fit(problem.X)
print(model.outcome_)
print(model.guarantee_.verdict)

# %%
# NMF from the best of its starts. On a problem like this one it finds the topics after some 7500 iterations;
# ``docs/images/topics.py`` draws that.
nmf = NMF(30, init="nndsvda", max_iter=500, tol=0, random_state=0).fit(problem.X)

# %%
# Errors on the way: a fit with a checkpoint is extended by a larger ``max_iter``, so no stage runs twice.
stages = np.unique(np.linspace(1, model.n_iter_, 25).astype(int))
with tempfile.TemporaryDirectory() as folder:
    fits = [AND(30, max_iter=stage, checkpoint=folder).fit(problem.X) for stage in stages]
errors = [total_correlation_error(fit.components_, problem.components) for fit in fits]

# %%
# Left: the sum of the errors of all topics falls stage after stage, down to rounding. Right: every topic on
# its own.
figure, (left, right) = plt.subplots(1, 2, gridspec_kw={"width_ratios": [3, 2]})
left.semilogy(stages, errors, "o-", label="AND")
stuck = total_correlation_error(nmf.components_, problem.components)
left.axhline(stuck, color="tab:orange", label="NMF (scikit-learn), 500 iterations")
left.set(xlabel="stage of AND", ylabel="total error (sum of sines)", title="Does it find the topics?")
left.legend(loc="lower left")
for fit, colour in ((model, "tab:blue"), (nmf, "tab:orange")):
    right.semilogy(np.sort(sine_errors(fit.components_, problem.components)), "o", color=colour, ms=4)
right.set(xlabel="topic, best first", title="... each of them?")
plt.show()
