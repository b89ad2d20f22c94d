"""
Outliers among digits
=====================

*Which images don't belong, and what do they do to the model?* One image in twenty has its pixels shuffled
and is three times as bright. Least squares listens to whoever is loudest, so a dictionary learnt from all
rows learns the noise. :class:`altmin.ApproximateDictionaryLearning` with ``contamination`` lets every row
count the same, leaves out those that it can't explain, and names them. Which ones are strange isn't told to
anyone.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import roc_auc_score

from altmin import ApproximateDictionaryLearning
from altmin.plots import plot_dictionary

rng = np.random.default_rng(0)
X = load_digits().data[:1200]
strange = rng.random(len(X)) < 0.05
X = np.where(strange[:, None], 3 * rng.permuted(X, axis=1), X)

# %%
# Four atoms an image at most, with and without the knowledge that something is wrong.
options = {"n_nonzero_coefs": 4, "max_iter": 15, "random_state": 0}
plain = ApproximateDictionaryLearning(36, **options).fit(X)
robust = ApproximateDictionaryLearning(36, contamination=0.05, **options).fit(X)


def error_of_digits(model):
    """What four atoms leave over of the images that are digits."""
    codes = model.transform(X[~strange])
    return np.linalg.norm(X[~strange] - codes @ model.components_) ** 2 / np.linalg.norm(X[~strange]) ** 2


area = roc_auc_score(strange, robust.outlier_scores_)
named = int((robust.outlier_mask_ & strange).sum())
print(f"shuffled above true in {area:.1%} of all pairs; {named} of {strange.sum()} named")

# %%
# Left: what each dictionary consists of. Right: the score of every image.
figure, axes = plt.subplots(1, 3, figsize=(11, 3.8), width_ratios=[1, 1, 1.3])
for ax, (name, model) in zip(
    axes, {"contamination=0": plain, "contamination=.05": robust}.items(), strict=False
):
    plot_dictionary(model, ax=ax, title=f"{name}\nerror of the digits: {error_of_digits(model):.1%}")
ax, score = axes[2], robust.outlier_scores_
bins = np.linspace(0, score.max(), 40)
ax.hist(score[~strange], bins, color="tab:blue", alpha=0.8, label="digits")
ax.hist(score[strange], bins, color="tab:red", alpha=0.8, label="shuffled")
ax.axvline(robust.outlier_threshold_, color="0.3", ls="--", lw=1, label="the model's threshold")
ax.set(
    xlabel="share that four atoms leave over", ylabel="images", yscale="log", title="Who can't be explained?"
)
ax.legend(loc="upper center", fontsize=9)
plt.show()
