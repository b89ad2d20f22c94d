"""Tables: a law that hides in measurements, what products of columns add, and what they don't."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from altmin import (
    FactorizationMachineClassifier,
    FactorizationMachineRegressor,
    InductiveMatrixCompletion,
)
from altmin.demo.story import Story, side_by_side, story, timed


def _linear(model: Any) -> Any:
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), model)


@story
def law() -> Story:
    """The law behind a column: areas of cell nuclei against their radii."""
    from sklearn.datasets import load_breast_cancer
    from sklearn.linear_model import Ridge
    from sklearn.model_selection import cross_val_score

    data = load_breast_cancer()
    names = ["mean radius", "mean texture", "mean smoothness", "mean compactness", "mean symmetry"]
    column = {name: data.data[:, i] for i, name in enumerate(data.feature_names)}
    X, y = np.column_stack([column[name] for name in names]), column["mean area"]
    machine = FactorizationMachineRegressor(1, random_state=0)
    scores = {
        "Ridge (scikit-learn)": cross_val_score(_linear(Ridge()), X, y, cv=5).mean(),
        "FactorizationMachineRegressor": cross_val_score(machine, X, y, cv=5).mean(),
    }
    model, seconds = timed(machine, X, y)
    factor = model.interaction(0, 0)
    return Story(
        "Which formula links these columns?",
        f"Five measurements of 569 cell nuclei, and their areas. In {seconds:.1f} s the "
        "factorization machine "
        f"finds the term {factor:.2f} x radius x radius (a circle has 3.14). On new nuclei it explains "
        f"{scores['FactorizationMachineRegressor']:.1%} of the variance of the area, a linear model "
        f"{scores['Ridge (scikit-learn)']:.1%}.",
        "FactorizationMachineRegressor",
        "breast cancer (comes with scikit-learn)",
        "model = altmin.FactorizationMachineRegressor(1).fit(X, area)\nmodel.interaction(0, 0)",
        rows=[{"model": name, "R2 on new rows": float(score)} for name, score in scores.items()],
        model=model,
    )


@story
def parity() -> Story:
    """Odd or even: products of pixels tell what pixels alone don't."""
    from sklearn.datasets import load_digits
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import train_test_split

    X, y = load_digits(return_X_y=True)
    A, B, a, b = train_test_split(X, y % 2, random_state=0)
    model, seconds = timed(FactorizationMachineClassifier(8, random_state=0), A, a)
    ours, other = model.score(B, b), _linear(LogisticRegression(max_iter=1000)).fit(A, a).score(B, b)
    return Story(
        "Is the digit odd or even?",
        f"A factorization machine, which uses products of pixels, is right for {ours:.1%} of new "
        "digits after "
        f"{seconds:.1f} s of training; logistic regression on single pixels for {other:.1%}.",
        "FactorizationMachineClassifier",
        "digits (comes with scikit-learn)",
        "altmin.FactorizationMachineClassifier(8).fit(X, odd)",
        model=model,
    )


@story
def ordinary_table() -> Story:
    """Where it doesn't help: a table in which a linear model is enough."""
    from sklearn.datasets import load_diabetes
    from sklearn.linear_model import Ridge
    from sklearn.model_selection import cross_val_score

    X, y = load_diabetes(return_X_y=True)
    models = {f"rank {r}": FactorizationMachineRegressor(r, random_state=0) for r in (1, 8)}
    scores = {name: cross_val_score(model, X, y, cv=5).mean() for name, model in models.items()}
    linear = cross_val_score(_linear(Ridge()), X, y, cv=5).mean()
    return Story(
        "Does it always help?",
        f"No. In a table of 442 diabetes patients a linear model explains {linear:.0%} of how the disease "
        f"progresses, a factorization machine of rank 1 {scores['rank 1']:.0%}, and one of rank 8 "
        f"{scores['rank 8']:.0%}: products of columns add nothing here.",
        "FactorizationMachineRegressor",
        "diabetes (comes with scikit-learn)",
        "cross_val_score(altmin.FactorizationMachineRegressor(1), X, y)",
    )


@story
def half_a_table() -> Story:
    """Half of the entries of a table of faces, filled in by its low rank."""
    from skimage.data import lfw_subset

    faces = lfw_subset()[:100]
    X, rng = faces.reshape(len(faces), -1), np.random.default_rng(0)
    known = rng.random(X.shape) < 0.5
    entries = sp.csr_array((X[known], np.nonzero(known)), shape=X.shape)
    model, seconds = timed(InductiveMatrixCompletion(10, random_state=0), entries)
    filled = np.where(known, X, model.complete())
    mean = np.where(known, X, 0).sum(axis=0) / known.sum(axis=0)
    error, other = (float(np.sqrt(np.mean((Y - X)[~known] ** 2))) for Y in (filled, mean + 0 * X))
    shape = faces.shape[1:]
    shown = {
        "known": np.where(known, X, 0)[3].reshape(shape),
        "filled in": np.clip(filled[3], 0, 1).reshape(shape),
        "the truth": X[3].reshape(shape),
    }
    return Story(
        "What is in the empty cells of this table?",
        "The rows of a table are 100 pictures of faces, and half of its cells are empty. altmin "
        "fills them in "
        f"{seconds:.1f} s, by what the faces have in common, with an error of {error:.3f}; the mean of each "
        f"column would have {other:.3f}. Pixels are between 0 and 1.",
        "InductiveMatrixCompletion",
        "faces of lfw_subset (comes with scikit-image)",
        "altmin.InductiveMatrixCompletion(10).fit(entries).complete()",
        {"faces": lambda: side_by_side(shown, width=2.2)},
        model=model,
    )
