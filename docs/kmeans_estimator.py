"""k-means as an estimator with a guarantee: what the tutorial adds to the algorithm of the gallery."""

from dataclasses import dataclass, field, replace

import numpy as np
from plot_kmeans import KMeans  # examples/extend/plot_kmeans.py
from scipy.spatial.distance import cdist, pdist

from altmin.estimators.base import Estimator
from altmin.estimators.parameters import Count
from altmin.estimators.sklearn_bridge import fit_context
from altmin.guarantees.contract import Family, Rule, judge, whole
from altmin.guarantees.refits import on_halves


# begin guarantee
@dataclass(frozen=True)
class Clusters:
    """The evidence: distances in units of the spread of a cluster."""

    separation: float  # between the two centres that are nearest to each other
    moved: float | None = None  # from a centre to the nearest one of a fit on half of the samples


def tests(found):
    """Each number held against its bound."""
    yield whole(
        "clusters are apart", "d / s", found.separation, at_least=4.0, id="apart", otherwise="contradicted",
        meaning="Centres nearer than four spreads may share a cluster.",
    )  # fmt: skip
    yield whole(
        "halves agree", "m / s", found.moved, at_most=0.5, id="halves",
        meaning="Centres that fits on both halves of the samples find again do not depend on chance.",
    )  # fmt: skip
    yield whole(
        "no other centres explain the samples", "proof", None, id="proof", otherwise="plausible",
        meaning="No theorem says that k-means finds the true centres.",
    )  # fmt: skip


CLUSTERS = Family(
    claim=lambda found: "These are the centres of the clusters.",
    tests=tests,
    rule=lambda found: Rule("stable", ("apart", "halves", "proof")),
    error=lambda found: found.moved,
    advice={"apart": "a smaller n_clusters", "halves": "more samples, or a larger n_init"},
)


# end guarantee
# begin estimator
class ClusterCentres(Estimator):
    """k-means as an estimator of altmin."""

    n_clusters: Count = field(kw_only=False)
    n_init: Count = 8

    @fit_context
    def fit(self, X, y=None):
        """Find the centres."""
        source = self._open(X, reset=True)
        result = self._best(source)
        self._set_run(result)  # n_iter_, history_, outcome_
        self.cluster_centers_ = result.state.centres
        self.spread_ = np.sqrt(result.state.error / (source.info.n_rows * source.info.n_features))
        self.guarantee_ = judge(CLUSTERS, self._evidence())
        return self

    def _best(self, source):
        """k-means depends on its start: the best of several runs."""
        runs = (self._run(KMeans(self.n_clusters), source, seed=seed) for seed in range(self.n_init))
        return min(runs, key=lambda result: result.state.error)

    def _evidence(self):
        return Clusters(pdist(self.cluster_centers_).min() / self.spread_)

    def _judge(self, source, *, full, assume=None):
        """What ``guarantee(X)`` asks for: one more look at these rows or, for 'full', two more fits."""

        def moved(half):
            distance = cdist(self.cluster_centers_, self._best(half).state.centres)
            return distance.min(axis=1).max() / self.spread_

        if not full:
            return judge(CLUSTERS, self._evidence())
        found = replace(self._evidence(), moved=max(on_halves(moved, source)))
        return judge(CLUSTERS, found, effort="full")


# end estimator
