"""Roads that few fits take: words, pages and choices of a discovery, starts that are given, rare options."""

from __future__ import annotations

import io
from contextlib import redirect_stderr
from dataclasses import replace
from itertools import count
from types import SimpleNamespace
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
    ORTHOGONAL,
    PHASE,
    ROUNDED,
    SENSING,
    case,
    fitted,
    rows,
)
from data import atoms, clicks, cone, counts, designs, law, noisy_cone, planted, ratings, weights
from pages import outline, plain, words

from altmin.discovery import dimensions, families, held_out, screen, search, sparsity
from altmin.discovery import law as laws
from altmin.discovery.look import look_at
from altmin.discovery.page import parts_of
from altmin.discovery.result import Candidate, Discovery, Term
from altmin.discovery.table import sample_table
from altmin.discovery.words import aside_in_code, code_of, found_in_words, nothing_in_words
from altmin.engine import open_source
from altmin.guarantees.refits import count_distinct


def tables() -> dict[str, Any]:
    """Tables of every kind, some of them odd."""
    rng = np.random.default_rng(0)
    odd = rng.standard_normal((30, 4)) * [1.0, 5e3, 1.0, 0.0] + [0.0, 0.0, 0.0, 2.0]
    return {
        "mixtures": noisy_cone(),
        "atoms": atoms(snr_db=30),
        "counts": counts(),
        "noise": rng.standard_normal((200, 6)),
        "odd": np.vstack([odd, odd[:3]]),
        "one copy": np.vstack([odd[:, :3], odd[:1, :3]]),
        "wide": rng.standard_normal((12, 3)) @ rng.standard_normal((3, 30)),
    }


def candidate(family: str, k: int, **changes: Any) -> Candidate:
    """A row of the table of candidates."""
    return replace(
        Candidate(family, k, 0.1 * k, 0.01, "unknown", {"recovered": 1, "unknown": 2}, 0.3), **changes
    )


@case
def looks_at_tables() -> Any:
    """All that is measured of a table before a family is tried."""
    found: dict[str, Any] = {}
    for name, X in tables().items():
        look = look_at(X)
        both = (dimensions.count_dimensions(rows, 6, 1) for rows in (X, X - X.mean(axis=0)))
        seen = families.Seen(X, look, *both, 1)
        factors, centre, codes = families.principal_axes(X, 2)
        found[name] = {
            "look": look,
            "notes": look.notes,
            "dimensions": (seen.dimensions, seen.dimensions.left, seen.dimensions.saturated),
            "units": dimensions.noise_units(X),
            "axes": (np.abs(factors), centre, codes(X[:, :3], factors[:, :3]) ** 2),
            "error": held_out.relative_error(X, factors, centre, codes, 1),
            "proposals": [
                str(model)
                for family in (families.MIXTURES, families.SPARSE)
                for model in family.proposals(seen)
            ],
            "left": sparsity.left_over(X, np.eye(X.shape[1]), np.zeros(X.shape[1]), seed=1),
            "left by two": sparsity.left_over(X, np.eye(X.shape[1]), X.mean(axis=0), 2, 1),
            "sparse": [screen.can_be_sparse(X, k, 1) for k in (2, 4)],
            "groups": held_out.one_each(np.abs(X), np.abs(X[:3])),
        }
    return found


@case
def peaks_of_rows() -> Any:
    """Rows between sparse and Gaussian, in steps: where they begin to count as sparse."""
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((400, 4))
    mixed = [np.sign(Z) * np.abs(Z) ** power for power in np.linspace(1.0, 1.6, 13)]
    basis = np.eye(5)
    return {
        "sparse": [screen.can_be_sparse(rows, 4, 0) for rows in mixed],
        "sizes": [screen._mean_sizes(rows, 3, np.random.default_rng(1)) for rows in mixed[::4]],
        "columns": [families.are_columns(one) for one in (basis, basis[:4], basis + 0.3, basis + 0.06)],
        "orthogonal": [
            families.may_be_orthogonal(one) for one in (basis, basis[:4], basis + 0.3, basis + 0.06)
        ],
    }


@case
def answers_in_words() -> Any:
    """What is said of every end of a search."""
    look = look_at(tables()["odd"])
    report = SimpleNamespace(verdict="plausible", advice="more rows; less noise", claim="they are right")
    model = SimpleNamespace(components_=np.eye(3), guarantee_=report)
    told = SimpleNamespace(components_=np.eye(3), guarantee_=replace_all(report, advice=""))
    low = candidate("low rank", 2, verdict="", error=0.7)
    none = candidate("noise", 0, verdict="")
    best = candidate("mixtures", 3, model=model, claimed=True)
    rivals = (candidate("sparse combinations", 3, claimed=True), candidate("overcomplete", 4, claimed=True))
    ends = {
        "found": found_in_words(best, "there are {k}", (best, low), look, ("a note",)),
        "rivals": found_in_words(best, "there are {k}", (best, *rivals, rivals[0]), look, ()),
        "stopped": nothing_in_words(2, (low,), look, True, ()),
        "undecided": nothing_in_words(2, (replace(low, error=0.4), best), look, False, ()),
        "no advice": nothing_in_words(2, (low, replace(best, model=told)), look, False, ()),
        "against": nothing_in_words(2, (low, replace(best, note="no")), look, False, ()),
        "at first look": nothing_in_words(0, (none,), look, False, ("another",)),
    }
    for verdict in ("recovered", "unknown", "contradicted"):
        one = SimpleNamespace(
            components_=np.eye(3), guarantee_=replace_all(report, verdict=verdict, advice="")
        )
        ends[verdict] = found_in_words(replace(best, model=one), "{k}", (best,), look, ())
    ends["aside"] = aside_in_code(ends["found"], [1, 3], frame=True)
    ends["aside of an array"] = aside_in_code(ends["found"], [1, 3], frame=False)
    return {
        name: {
            "kind": end.kind,
            "k": end.n_components,
            "why": list(end.why),
            "code": end.code,
            "text": str(end),
            "rows": [c.to_dict() for c in end.candidates],
        }
        for name, end in ends.items()
    } | {
        "code": code_of(AND(3, max_iter=4), "Y"),
        "same": aside_in_code(ends["found"], [], True) is ends["found"],
    }


def replace_all(one: SimpleNamespace, **changes: Any) -> SimpleNamespace:
    """The same with other values."""
    return SimpleNamespace(**{**vars(one), **changes})


@plain
def parts_of_a_discovery() -> Any:
    """Every branch of the page: factors few and many, named or not, terms, notes, refusals, no report."""
    report = AND(3, max_iter=20, **ON).fit(noisy_cone()).guarantee_
    rng = np.random.default_rng(0)
    look = look_at(tables()["odd"])
    components = rng.standard_normal((30, 6)) * (rng.random((30, 6)) < 0.8)
    verdicts = [
        replace(report.factors[i % 3], verdict=("recovered", "plausible", "unknown", "contradicted")[i % 4])
        for i in range(30)
    ]
    judged = replace(report, factors=tuple(verdicts))
    terms = (Term((0,), 2.0, 0.5), Term((1, 2), -0.3, 0.011), Term((0, 1), 0.1, 0.009))
    tried = (
        candidate("mixtures", 3, note="it fails"),
        candidate("no relation", 0, verdict="", error=np.nan),
        candidate("low rank", 2, verdict="", seconds=12.345),
    )
    base = Discovery(
        "mixtures", 3, "yes", ("yes", "sure", "surer"), None, tried, look, "code", ("a note",), terms
    )
    models = {
        "none": None,
        "few": SimpleNamespace(components_=components[:3], guarantee_=judged, feature_names_in_=words(6)),
        "many": SimpleNamespace(components_=components, guarantee_=judged, feature_names_in_=words(6)),
        "without factors": SimpleNamespace(guarantee_=None, feature_names_in_=words(6)),
        "without verdicts": SimpleNamespace(
            components_=components[:2], guarantee_=replace(report, factors=())
        ),
    }
    found = {
        name: parts_of(replace(base, best=model), words=words(6) if name == "without verdicts" else None)
        for name, model in models.items()
    }
    found["no law"] = parts_of(
        replace(base, terms=(), candidates=tried[:1] + tried[2:], code="", best=models["few"])
    )
    return {name: outline("".join(map(str, parts))) for name, parts in found.items()} | {
        "text": str(replace(base, best=models["few"])),
        "dict": replace(base, best=models["without factors"]).to_dict(),
        "bars": ["".join(map(str, parts_of(replace(base, best=models["few"]))))],
    }


@case
def words_while_searching() -> Any:
    """Progress, with a clock that goes by ten seconds a look."""
    heard = io.StringIO()
    clock = count(100.0, 10.0)
    with (
        redirect_stderr(heard),
        mock.patch.object(search, "time", SimpleNamespace(monotonic=lambda: next(clock))),
    ):
        say = search._Progress()
        for ahead in (3, 2, 0):
            say(candidate("mixtures", ahead), ahead)
    order = [
        candidate("a", 1, verdict=""),
        candidate("b", 2, verdict="recovered", error=0.5),
        candidate("c", 2, note="no"),
        candidate("d", 3, claimed=True),
        candidate("e", 2, verdict="recovered", error=0.4),
    ]
    return {"said": heard.getvalue(), "order": [c.family for c in sorted(order, key=search._rank)]}


@case
def laws_of_tables() -> Any:
    """No relation, a line, and a quadratic law, from the same columns."""
    X = law(0.05).X[:240]
    rng = np.random.default_rng(0)
    targets = {
        "nothing": rng.standard_normal(240),
        "line": X @ [1.0, 0, -2, 0, 0.5] + 0.1 * rng.standard_normal(240),
        "square": law(0.05).y[:240],
    }
    told = {}
    for name, y in targets.items():
        said: list[Any] = []
        found = laws.discover_law(
            sample_table(X, y, 150, 3),
            3,
            lambda c, ahead, said=said: said.append((c.family, c.n_components, ahead)),
        )
        told[name] = {
            "said": said,
            "why": found.why,
            "kind": (found.kind, found.n_components),
            "terms": [(term.columns, term.coefficient, term.weight) for term in found.terms],
            "errors": [(c.family, c.n_components, c.error, c.spread) for c in found.candidates],
            "code": found.code,
        }
    table = sample_table(np.vstack([X, X[:5] * np.nan]), np.arange(245.0), 100, 2)
    told["table"] = {
        "rows": table.rows,
        "held": table.held_out,
        "target": table.target,
        "notes": list(table.notes),
    }
    return told


@case
def dictionaries_from_starts() -> Any:
    """Starts of any length and sign, in every family of dictionaries, with the full report."""
    start = np.eye(6) * np.array([3.0, -2.0, 0.5, 1.0, 7.0, 0.1])[:, None] + 0.05
    X = atoms(snr_db=25)
    return {
        "complete": fitted(COMPLETE(init=start, max_iter=12, **ON), X, effort="full"),
        "orthogonal": fitted(
            ORTHOGONAL(init=np.diag([1.0, -1, 1, 1, -1, 1]), max_iter=12, **ON),
            atoms(True, 25),
            effort="full",
        ),
        "approximate": fitted(
            APPROXIMATE(init=planted()[:10] * 4.0, n_nonzero_coefs=2, max_iter=2, **ON),
            planted(),
            effort="full",
        ),
        "cones": fitted(AND(3, init=4.0 * cone().start, max_iter=6, **ON), noisy_cone(), effort="full"),
        "without a seed": [ORTHOGONAL(max_iter=3).fit(atoms(True, 25)[:200]).components_ for _ in range(2)],
        "dct": fitted(ORTHOGONAL(init="dct", max_iter=5, warm_up=None, **ON), atoms(True, 25)),
        "centred": fitted(
            COMPLETE(fit_intercept=True, max_iter=25, **ON),
            X + np.arange(6.0),
            effort="cheap",
            without=ROUNDED,
        ),
        "theory": fitted(COMPLETE(threshold=0.2, max_iter=6, n_components=4, **ON), X),
        "online": fitted(ONLINE(batch_size=200, start_size=400, **ON), X, effort="full"),
    }


@case
def machines_of_many_units() -> Any:
    """Columns in other units, strengths, weights: what must change the fit, and what must not."""
    A, y = designs()
    unit = np.array([1.0, 20.0, 0.05, 3.0, 1.0, 0.5])
    X, target = law(0.3).X[:300], law(0.3).y[:300]
    classes = target > np.median(target)
    many = np.digitize(target, np.quantile(target, [0.3, 0.7]))
    found: dict[str, Any] = {
        f"C {C}": fitted(CLASSIFIER(1, C=C, max_iter=8, **ON), X, classes) for C in (0.01, 10.0)
    }
    found["three"] = fitted(CLASSIFIER(1, C=0.1, max_iter=5, **ON), X, many, effort="full")
    found["sensing"] = fitted(SENSING(1, **ON), A * unit, y, effort="full")
    found["phase"] = fitted(PHASE(**ON), A * unit, y + 0.1 * np.abs(A[:, 0]), effort="full")
    found["phase again"] = fitted(PHASE(batch_size=30, max_iter=7, **ON), A, y)
    found["phase complex"] = fitted(PHASE(max_iter=30, **ON), *designs("complex"), effort="full")
    # the sign of a direction is rounding's; what it predicts is not
    found["weighted"] = fitted(
        CLASSIFIER(1, max_iter=5, **ON),
        X,
        classes,
        weight=weights()[:300],
        effort="full",
        without=("factors_",),
    )
    U, V = A[:, :4] * unit[:4], A[:, 2:]
    paired = (U @ [1.0, 0, 0.2, 1.0]) * (V @ [0.5, 1.0, 0, -1.0])
    model = SENSING(1, **ON).fit((U, V), paired)
    found["pairs"] = {
        "matrix": model.matrix(),
        "report": rows(model.guarantee((U, V), paired, effort="full")),
    }
    found["nothing"] = SENSING(1, max_iter=3, **ON).fit((U, V), np.zeros(90)).matrix()
    found["distinct"] = [
        count_distinct(open_source(np.vstack([X, X[:40] + 1e-9])), centre, units)
        for centre, units in (
            (None, None),
            (X.mean(axis=0), X.std(axis=0)),
            (X.mean(axis=0), 1e4 * X.std(axis=0)),
        )
    ]
    return found


@case
def rows_of_one_and_zero() -> Any:
    """Sparse rows: codes of one field, of more, with levels, a constant target, and more of it later."""
    rng = np.random.default_rng(0)
    first, second = rng.integers(0, 12, 400), rng.integers(0, 9, 400)
    hot = sp.csr_array(np.hstack([np.eye(12)[first], np.eye(9)[second]]))
    y = first * 0.3 - second * 0.2 + (first % 3 == second % 3) + 0.1 * rng.standard_normal(400)
    model = MACHINE(2, max_iter=12, **ON)
    return {
        "one-hot": fitted(model, hot, y, effort="full"),
        "levels": fitted(MACHINE(2, max_iter=6, **ON), hot * 2.5, y),
        "constant": fitted(MACHINE(1, max_iter=3, **ON), hot, np.full(400, 2.0)),
        "classes": fitted(CLASSIFIER(2, max_iter=6, **ON), hot, y > 0.4, effort="full"),
        "weighted": fitted(MACHINE(2, max_iter=6, **ON), hot, y, weight=weights()[:400]),
        "parts": fitted(MACHINE(2, max_iter=4, **ON), hot, y, steps=3),
        "implicit": fitted(COMPLETION(2, feedback="implicit", max_iter=4, **ON), clicks()),
        "explicit": fitted(COMPLETION(1, max_iter=4, **ON), ratings()),
    }
