"""Time and peak memory of each family at three sizes."""

from __future__ import annotations

import time

import numpy as np
from threadpoolctl import threadpool_limits

import altmin
from altmin import datasets


class _Family:
    """A call at three sizes; one BLAS thread, compiled code loaded before the clock starts."""

    params = (2000, 8000, 32000)
    param_names = ("n",)
    timeout = 120
    timer = time.process_time

    def setup(self, n: int) -> None:
        self.limit = threadpool_limits(1)
        self.call = self.prepare(n)
        self.call()

    def teardown(self, n: int) -> None:
        self.limit.restore_original_limits()

    def prepare(self, n: int):
        raise NotImplementedError

    def time_fit(self, n: int) -> None:
        self.call()

    def peakmem_fit(self, n: int) -> None:
        self.call()


class Nonnegative(_Family):
    """AND: 20 stages in 50 components of 200 features."""

    def prepare(self, n):
        p = datasets.make_dir(n, 200, 50, random_state=0)
        return lambda: altmin.AND(50, init=p.start, max_iter=20, n_jobs=1).fit(p.X)


class NonnegativeWide(_Family):
    """AND: 20 stages, growth in the number of features."""

    params = (500, 1000, 5000)
    param_names = ("W",)

    def prepare(self, n):
        p = datasets.make_dir(3000, n, 50, random_state=0)
        return lambda: altmin.AND(50, init=p.start, max_iter=20, n_jobs=1).fit(p.X)


class Orthogonal(_Family):
    """Ten passes of the orthogonal dictionary."""

    def prepare(self, n):
        p = datasets.make_sparse_dictionary(n, 64, density=0.3, orthogonal=True, random_state=0)
        return lambda: altmin.OrthogonalDictionaryLearning(tol=0.0, max_iter=10, n_jobs=1).fit(p.X)


class Complete(_Family):
    """A whole fit of the complete dictionary."""

    def prepare(self, n):
        p = datasets.make_sparse_dictionary(n, 40, density=0.1, random_state=0)
        return lambda: altmin.CompleteDictionaryLearning(random_state=0, n_jobs=1).fit(p.X)


class Online(_Family):
    """One pass of the online dictionary."""

    def prepare(self, n):
        p = datasets.make_sparse_dictionary(n, 40, density=0.1, random_state=0)
        return lambda: altmin.OnlineDictionaryLearning(random_state=0, n_jobs=1).fit(p.X)


class Pursuit(_Family):
    """OMP: 256 atoms, 10 nonzeros."""

    def prepare(self, n):
        rng = np.random.default_rng(0)
        X, D = rng.standard_normal((n, 64)), rng.standard_normal((256, 64))
        return lambda: altmin.omp(X, D, 10, n_jobs=1)


class Machine(_Family):
    """The factorization machine: one pass in batches of 2000."""

    def prepare(self, n):
        p = datasets.make_quadratic(n, 50, 5, noise=0.1, random_state=0)
        options = {"batch_size": 2000, "max_iter": n // 2000, "tol": 0.0, "random_state": 0, "n_jobs": 1}
        return lambda: altmin.FactorizationMachineRegressor(5, **options).fit(p.X, p.y)


class Approximate(_Family):
    """Sampled peeling and five sweeps."""

    def prepare(self, n):
        p = datasets.make_planted_sparse(n, 32, 50, 4, 0.05, random_state=0)
        options = {"n_nonzero_coefs": 4, "peeling": "sampled", "max_iter": 5, "random_state": 0, "n_jobs": 1}
        return lambda: altmin.ApproximateDictionaryLearning(50, **options).fit(p.X)


class Denoising(_Family):
    """An image, by its side."""

    params = (64, 128, 256)
    param_names = ("side",)

    def prepare(self, n):
        image = np.random.default_rng(0).uniform(0, 255, (n, n))
        return lambda: altmin.images.denoise(image, 25.0, n_jobs=1)
