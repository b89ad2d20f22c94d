"""Advice that names a parameter, an attribute or a function names one that the family's estimators have."""

import ast
import importlib
import re
from pathlib import Path

import pytest

import altmin
from altmin.guarantees.contract import Family

SOURCE = Path(altmin.__file__).parent
FAMILIES = {
    "nonnegative": ("AND", "TopicModel"),
    "missing": ("AND",),
    "dictionary": (
        "OrthogonalDictionaryLearning",
        "CompleteDictionaryLearning",
        "OnlineDictionaryLearning",
    ),
    "overcomplete": ("ApproximateDictionaryLearning",),
    "quadratic": (
        "FactorizationMachineRegressor",
        "FactorizationMachineClassifier",
        "RankOneSensing",
        "InductiveMatrixCompletion",
        "PhaseRetrieval",
    ),
}
EVERY = [name for names in FAMILIES.values() for name in names]
FILES = [*sorted((SOURCE / "guarantees").glob("*.py")), SOURCE / "engine" / "outcome.py"]
MATHEMATICS = re.compile(r"(sigma|rho|lambda|sum|n_eff|s_j|kappa|phi|mu)")
NAMES = re.compile(r"\b[a-z]+(?:_[a-z]+)+_?(?!\w)|\b[a-z]+_(?!\w)|\b[a-z]+(?==['\"\d])")


def texts(path):
    """Strings of the file that are sentences: no docstrings, no HTML."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    documentation = {
        node.body[0].value
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef)
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        text = node.value if isinstance(node, ast.Constant) and node not in documentation else None
        if isinstance(text, str) and " " in text and "<" not in text:
            yield text


def known_names(path):
    """What the estimators that a file speaks of offer: parameters, fitted attributes, methods."""
    family = next((names for key, names in FAMILIES.items() if path.stem.startswith(key)), EVERY)
    names = set(altmin.__all__) | {"effort", "assume"}
    for name in family:
        estimator = getattr(altmin, name)
        names |= set(estimator._parameters) | {entry for entry in dir(estimator) if entry[0] != "_"}
        names |= set(re.findall(r"^(\w+_)(?:, | : )", estimator.__doc__, re.MULTILINE))
    return names


@pytest.mark.parametrize("path", FILES, ids=[path.name for path in FILES])
def test_names_in_advice_exist(path):
    known = known_names(path)
    for text in texts(path):
        named = [name for name in NAMES.findall(text) if not MATHEMATICS.match(name)]
        assert set(named) <= known, text


def families():
    """Every family of models that reports are made for, with its module's name."""
    names = [f"altmin.guarantees.{path.stem}" for path in (SOURCE / "guarantees").glob("[a-z]*.py")]
    for name in [*sorted(names), "altmin.signatures.verdicts"]:
        for key, value in vars(importlib.import_module(name)).items():
            if isinstance(value, Family):
                yield pytest.param(value, id=f"{name}.{key}")


@pytest.mark.parametrize("family", list(families()))
def test_each_advice_is_one_thing(family):
    """Reports list what to do next one by one, and tell pieces of advice apart by '; '."""
    said = [*family.advice.values(), family.closer, family.otherwise]
    assert [text for text in said if "; " in text or text.endswith(".")] == []


def test_the_search_finds_what_is_misspelt():
    assert NAMES.findall("so thresholds='auto' chooses; look at outliers_ or n_component") == [
        "thresholds",
        "outliers_",
        "n_component",
    ]
