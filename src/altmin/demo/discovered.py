"""A table and one question: what is in here?"""

from __future__ import annotations

from typing import Any

import numpy as np

from altmin.demo.story import Story, story
from altmin.discovery import discover


@story
def computed() -> Story:
    """A column of blood values that nobody measured, and its formula."""
    from sklearn.datasets import load_diabetes

    data = load_diabetes(scaled=False)
    column = {name: data.data[:, i] for i, name in enumerate(data.feature_names)}
    known = {
        "age": column["age"],
        "body mass index": column["bmi"],
        "blood pressure": column["bp"],
        "total cholesterol": column["s1"],
        "HDL": column["s3"],
        "triglycerides": np.exp(column["s5"]),
        "glucose": column["s6"],
    }
    X, ldl, names = np.column_stack(list(known.values())), column["s2"], list(known)
    found = discover(X, ldl, random_state=0)
    formula = " + ".join(term.named(names) for term in found.terms[:3]).replace("+ -", "- ")
    predicted = found.best.predict(X)
    worst = float(np.abs(predicted - ldl).max())
    return Story(
        "Was this column measured, or computed from others?",
        f"442 patients and their LDL cholesterol. Asked for no model, discover compares no relation, linear "
        f"and quadratic laws on patients that it held out, and finds: LDL = {formula}, with an error of "
        f"{worst:.1g} at most. Nobody measured it: this is Friedewald's formula, so the column "
        "says nothing that the other three don't.",
        "discover",
        "diabetes (comes with scikit-learn)",
        "altmin.discover(X, ldl)",
        {"computed": lambda: _agreement(predicted, ldl)},
        rows=[
            {"tried": row.family, "left on held-out patients": row.error, "rank": row.n_components}
            for row in found.candidates
        ],
    )


def _agreement(predicted: Any, ldl: Any) -> Any:
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots(figsize=(4.2, 3.6), layout="constrained")
    ax.plot(ldl, predicted, ".", markersize=3)
    ax.set_xlabel("LDL in the table")
    ax.set_ylabel("by the formula")
    return figure
