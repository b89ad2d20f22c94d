"""Every public name says what it solves, where it stands, what it promises and what it costs.

Form is judged by numpydoc's own validator; content by the sections that we ask for.
"""

import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from numpydoc.docscrape import get_doc_object
from numpydoc.validate import validate

import altmin

DOCS = Path(__file__).parents[2] / "docs"
# What the validator may ask for and we don't: summaries may be phrases and run over a line (SS03, SS05,
# SS06), an extended summary and See Also aren't needed (ES01, SA01, SA04), methods have the example of
# their class (EX01); where a docstring begins is ruff's business (GL01, which old validators see otherwise).
NOT_ASKED = {"GL01", "SS03", "SS05", "SS06", "ES01", "SA01", "SA04", "EX01"}
# Tools for files and pictures have no paper; metrics and pictures promise nothing.
WITHOUT_PAPER = {"save", "load", "Patches", "add_outliers", "top_words", "topic_stability"}
# What a function returns: its fields are its parameters, the function has the rest.
RESULTS = {"Unmixing", "ChannelTable", "Exposures", "Match", "Matching", "Number", "Bands", "Resolution"}
FAMILIES_WITHOUT_PROMISE = {"altmin.metrics", "altmin.plots"}
TEXT_MEASURES = {"diversity", "npmi_coherence", "top_words", "topic_stability"}
WITHOUT_PROMISE = {"Patches", "estimate_noise", "reconstruct"} | TEXT_MEASURES
WITHOUT_EQUATION = {
    "save",
    "load",
    "Patches",
    "estimate_noise",
    "add_outliers",
    "recall_at_k",
    "bootstrap_components",
    "abundance_rmse",
} | TEXT_MEASURES


def public() -> Iterator[tuple[str, object]]:
    for name in altmin.__all__:
        value = getattr(altmin, name)
        if inspect.ismodule(value):
            yield from ((f"altmin.{name}.{inner}", getattr(value, inner)) for inner in value.__all__)
        elif callable(value):
            yield f"altmin.{name}", value


PUBLIC = dict(public())
CALLABLE = {name: value for name, value in PUBLIC.items() if callable(value)}
METHODS = [
    f"{name}.{method}"
    for name, value in CALLABLE.items()
    if hasattr(value, "fit")
    for method, function in inspect.getmembers(value, inspect.isfunction)
    if not method.startswith("_") and function.__module__.startswith("altmin")
]


@pytest.mark.parametrize("name", [*CALLABLE, *METHODS])
def test_numpydoc_finds_nothing_to_object(name):
    errors = [error for error in validate(name)["errors"] if error[0] not in NOT_ASKED]
    assert not errors, errors


@pytest.mark.parametrize("name", [name for name in CALLABLE if name.rsplit(".", 1)[1] not in RESULTS])
def test_says_problem_paper_promise_cost_and_example(name):
    value = CALLABLE[name]
    doc, short = get_doc_object(value), name.rsplit(".", 1)[1]
    family = name.rsplit(".", 1)[0]
    text, notes = inspect.getdoc(value), "\n".join(doc["Notes"])
    picture = family == "altmin.plots"
    missing = []
    if not doc["Parameters"]:
        missing.append("Parameters")
    if not (doc["Attributes"] or doc["Returns"] or short == "save"):
        missing.append("Attributes or Returns")
    if not doc["Examples"] or ">>>" not in "\n".join(doc["Examples"]):
        missing.append("an example that is a doctest")
    if not picture and "**Cost.**" not in notes:
        missing.append("**Cost.** in Notes")
    promises = family not in FAMILIES_WITHOUT_PROMISE and short not in WITHOUT_PROMISE
    if promises and "**Guarantee.**" not in notes:
        missing.append("**Guarantee.** in Notes")
    if not picture and short not in WITHOUT_EQUATION and ".. math::" not in text:
        missing.append("the problem as a display equation")
    papers = family != "altmin.metrics" and not picture and short not in WITHOUT_PAPER
    if papers and not doc["References"]:
        missing.append("References")
    assert not missing, missing


def test_papers_that_docstrings_name_stand_in_the_bibliography():
    titles = re.findall(r"title\s*=\s*\{(.*)\},", (DOCS / "references.bib").read_text(encoding="utf-8"))
    known = [re.sub(r"[{}]", "", title).lower() for title in titles]
    texts = {name: " ".join(get_doc_object(value)["References"]) for name, value in CALLABLE.items()}
    cited = {name: " ".join(text.lower().split()) for name, text in texts.items() if text}
    assert len(cited) > 20
    for name, text in cited.items():
        assert any(title in text for title in known), (name, text)


def test_api_page_lists_every_public_name():
    page = (DOCS / "api" / "index.rst").read_text(encoding="utf-8")
    missing = [
        name for name in CALLABLE if not re.search(rf"^   {name.rsplit('.', 1)[1]}$", page, re.MULTILINE)
    ]
    assert not missing
