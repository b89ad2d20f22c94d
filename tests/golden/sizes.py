"""Roads of large tables, with the sizes at which they begin made small, and of starts that come late."""

from __future__ import annotations

from typing import Any
from unittest import mock

import numpy as np
import scipy.sparse as sp
from cases import (
    AND,
    APPROXIMATE,
    CLASSIFIER,
    COMPLETE,
    COMPLETION,
    MACHINE,
    ON,
    ONLINE,
    PHASE,
    SENSING,
    case,
    fitted,
)
from data import atoms, clicks, cone, counts, designs, law, noisy_cone, planted, ratings
from walks import walk

from altmin import datasets
from altmin.algorithms.dictionary import complete
from altmin.algorithms.nonnegative import subspace
from altmin.algorithms.overcomplete import swap_atoms
from altmin.algorithms.quadratic import grow_cut, least_squares, pair_least_squares
from altmin.engine import Settings, open_source, run
from altmin.estimators.quadratic import matrix_completion
from altmin.guarantees import dictionary_pairs


@case
def machines_of_many_columns() -> Any:
    """Neither moments nor J'J are formed: power rounds, then limited-memory steps."""
    X, y = law(0.1).X[:300], law(0.1).y[:300]
    found: dict[str, Any] = {}
    with (
        mock.patch.object(least_squares, "MOST_MOMENTS", 3),
        mock.patch.object(pair_least_squares, "_MOST_MOMENTS", 9),
        mock.patch.object(grow_cut, "MOST_DENSE", 4),
    ):
        found["machine"] = fitted(MACHINE(2, max_iter=9, **ON), X, y)
        found["classes"] = fitted(CLASSIFIER(1, max_iter=5, **ON), X, y > np.median(y))
        found["sensing"] = fitted(SENSING(1, max_iter=9, **ON), *designs())
        A = designs()[0]
        U, V = A[:, :4], A[:, 2:]
        paired = (U @ [1.0, 0, 0.2, 1.0]) * (V @ [0.5, 1.0, 0, -1.0])
        found["pairs"] = SENSING(1, max_iter=9, **ON).fit((U, V), paired).matrix()
    with mock.patch.object(grow_cut, "MOST_DENSE", 4):
        found["moments alone"] = fitted(MACHINE(2, max_iter=9, **ON), X, y)
        found["pairs by moments"] = SENSING(1, max_iter=9, **ON).fit((U, V), paired).matrix()
    return found


@case
def starts_of_dictionaries() -> Any:
    """Each kind of start as the only one."""
    found: dict[str, Any] = {}
    for kind in ("huber 1", "huber 0.25", "cube", "descent", "bank 12"):
        with walk() as rounds:
            ended = run(
                complete.Complete(6, portfolio=(kind,)), open_source(atoms()), Settings(seed=0, max_iter=400)
            )
        best = ended.state.search.best
        found[kind] = {
            "walk": [[line] for line in rounds],
            "best": None
            if best is None
            else (best.kind, best.exact, np.sort(np.abs(best.atoms @ best.atoms.T).ravel())),
            "tried": ended.state.search.tried,
        }
    wide = atoms()[:120] @ np.random.default_rng(2).standard_normal((6, 520))
    found["sketch"] = fitted(
        COMPLETE(6, max_iter=30, **ON), wide, without=("n_iter_", "outcome_", "thresholds_")
    )
    return found


@case
def cones_of_many_features() -> Any:
    """Wider than twice the sketch: leading directions by the Gram matrix, or by powers."""
    wide = datasets.make_dir(90, 400, 3, concentration=0.4, noise=0.05, random_state=1).X
    exact = datasets.make_dir(90, 400, 3, concentration=0.4, random_state=1).X
    found = {"gram": fitted(AND(3, max_iter=8, **ON), wide), "exact": fitted(AND(3, max_iter=8, **ON), exact)}
    with mock.patch.object(subspace, "_GRAM_WIDTHS", 0):
        found["powers"] = fitted(AND(3, max_iter=8, **ON), wide)
    found["weights"] = fitted(AND(3, max_iter=8, **ON), wide, weight=np.linspace(0.0, 2.0, 90))
    found["counts"] = fitted(AND(3, noise="poisson", max_iter=8, **ON), sp.csr_array(counts()))
    outside = cone().start + 0.1 * np.random.default_rng(0).random(cone().start.shape)
    found["a start outside"] = fitted(AND(3, init=outside, max_iter=6, **ON), cone().X)
    found["anchors"] = fitted(AND(3, init="anchor", max_iter=6, **ON), counts())
    found["as many as features"] = fitted(AND(4, max_iter=6, **ON), noisy_cone()[:, :4])
    return found


@case
def peelings_of_rows() -> Any:
    """A sample and all rows, by theory and in practice, grown, from nothing, with one direction of all."""
    X = planted()
    one = np.outer(np.linspace(1, 2, 60), np.arange(1.0, 9.0)) + 0.01 * planted()[:60]
    given: dict[str, tuple[Any, Any]] = {
        "theory of a sample": (
            APPROXIMATE(12, n_nonzero_coefs=2, mode="theory", peeling="sampled", max_iter=3, **ON),
            X,
        ),
        "theory of all": (
            APPROXIMATE(
                6, n_nonzero_coefs=2, mode="theory", peeling="exact", target_error=0.2, max_iter=3, **ON
            ),
            X[:90],
        ),
        "grown": (APPROXIMATE(n_nonzero_coefs=2, target_error=0.2, max_iter=6, **ON), X),
        "nothing": (APPROXIMATE(4, n_nonzero_coefs=1, max_iter=2, **ON), np.zeros((30, 5))),
        "one direction": (APPROXIMATE(4, n_nonzero_coefs=1, max_iter=3, **ON), one),
    }
    found = {name: fitted(model, rows) for name, (model, rows) in given.items()}
    A, energy = np.linalg.qr(np.random.default_rng(0).standard_normal((6, 6)))[0], np.arange(6.0) + 1
    A[3] = 0.9 * A[2] + np.sqrt(1 - 0.81) * A[3]
    return found | {
        "weak": swap_atoms.weak_atoms(A, energy, 3),
        "weakest": swap_atoms.weak_atoms(A, energy, 1),
    }


@case
def completions_of_many_columns() -> Any:
    """Factors of clicks, ratings on a scale, features that are ids, and what is made of new ones."""
    rng = np.random.default_rng(0)
    with mock.patch.object(matrix_completion, "_MOST_ITEMS", 4):
        model = COMPLETION(2, feedback="implicit", max_iter=4, **ON).fit(clicks())
    found: dict[str, Any] = {
        "clicks": model.complete(),
        "best": model.recommend([0, 3, 59], 4),
        "best of all": model.recommend(2, 30),
        "seen too": model.recommend(2, 4, exclude_seen=False),
        "loss": model.loss_,
    }
    stars = ratings().copy()
    stars.data = np.clip(np.round(stars.data), 1, 5)
    model = COMPLETION(2, max_iter=4, **ON).fit(stars)
    found["stars"] = {
        "whole": model.complete(),
        "some": model.predict([0, 1], [2, 3]),
        "best": model.recommend(1, 5),
    }
    genres = sp.csr_array((rng.random((30, 6)) < 0.15) * 1.0)
    ids = sp.csr_array(np.hstack([np.eye(40), (rng.random((40, 3)) < 0.2) * 1.0]))
    model = COMPLETION(2, max_iter=4, **ON).fit(ratings(), ids, genres)
    found["genres"] = {
        "whole": model.complete(),
        "new": model.complete(ids[:2], genres[:3] * 2),
        "new columns": model.complete(None, genres[3:5]),
        "report": model.guarantee((ratings(), ids, genres)).verdict,
        "bias": model.row_bias_,
    }
    found["single"] = COMPLETION(1, max_iter=3, **ON).fit(ratings().astype(np.float32)).complete()
    return found


@case
def streams_that_change() -> Any:
    """A dictionary of which an atom is exchanged in mid-stream, and one that is lost altogether."""
    X = datasets.make_sparse_dictionary(2400, 6, density=0.2, random_state=0)
    other = X.components.copy()
    other[2] = np.linalg.qr(np.random.default_rng(1).standard_normal((6, 6)))[0][0]
    Y = np.linalg.lstsq(X.components.T, X.X.T, rcond=None)[0].T
    lost = np.linalg.qr(np.random.default_rng(4).standard_normal((6, 6)))[0]
    found: dict[str, Any] = {}
    for name, later in (("one atom", other), ("all", lost)):
        model = ONLINE(batch_size=300, start_size=900, **ON)
        told = []
        for part in (X.X[:900], Y[900:1500] @ later, Y[1500:] @ later):
            model.partial_fit(part)
            told.append([len(model.changes_), model.outcome_.kind if hasattr(model, "outcome_") else ""])
        sizes = np.linalg.norm(later @ np.linalg.pinv(model.components_), axis=1)
        found[name] = {
            "told": told,
            "changes": [next(iter(one.values())) for one in model.changes_],
            "sizes": sizes,
        }
    return found


@case
def phases_of_few_rows() -> Any:
    """Two and a half rows an unknown: the polish settles in a minimum, and begins again."""
    found = {}
    for seed in range(3):
        rng = np.random.default_rng(seed)
        A, s = rng.standard_normal((22, 9)), rng.standard_normal(9)
        model = PHASE(max_iter=120, **ON).fit(A, (A @ s) ** 2)
        found[f"seed {seed}"] = [model.outcome_.kind, model.loss_ < 1e-6]
    return found


@case
def pairs_of_many_atoms() -> Any:
    """Levels of sizes, the largest of many eigenvalues, and codes that say nothing."""
    rng = np.random.default_rng(0)
    levels = rng.integers(1, 4, (300, 4)) * (rng.random((300, 4)) < 0.4)
    levels[:, 1] = np.where(levels[:, 0] == 2, 1, levels[:, 1])
    G = rng.standard_normal((40, 60))
    G = np.tril(G @ G.T)
    signed = levels * np.where(rng.random(levels.shape) < 0.5, -1.0, 1.0)
    return {
        "levels": dictionary_pairs.levels(signed),
        "largest": dictionary_pairs._largest(G),
        "largest of few": dictionary_pairs._largest(G[:5, :5]),
        "together": dictionary_pairs.together(signed != 0),
        "spans": dictionary_pairs.spans(signed),
        "related": dictionary_pairs.related(signed),
        "nothing": (dictionary_pairs.spans(signed[:2]), dictionary_pairs.related(signed[:2])),
    }
