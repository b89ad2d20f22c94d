"""Pages, part by part: what a reader sees without matplotlib, whose pictures take most of the time."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock

import numpy as np
from cases import AND, APPROXIMATE, MACHINE, ON, PHASE, SENSING, case
from data import cone, designs, law, noisy_cone, planted

import altmin
from altmin import mixtures, signatures
from altmin.discovery.page import write_page
from altmin.guarantees.report import GuaranteeReport
from altmin.report.mixtures_page import mixtures_page
from altmin.report.model_page import model_page, write_model_page
from altmin.report.page import Raw, page
from altmin.report.signatures_page import signatures_page


def outline(html: str) -> list[list[str]]:
    """Every text of a page in its order, a line each; those that a class marks, with its name."""
    html = re.sub(r"(?s)<style>.*?</style>|<script>.*?</script>|<img[^>]*>", "", html)
    html = re.sub(r"<(\w+)[^>]*class=[\"']([\w ]+)[\"'][^>]*>", r"\n(\2) ", html)
    lines = [" ".join(line.split()) for line in re.sub(r"<[^>]*>", "\n", html).splitlines()]
    return [[line] for line in lines if line and not re.fullmatch(r"\([\w ]+\)", line)]


def plain(pages: Callable[[], Any]) -> Callable[[], Any]:
    """A case of pages without pictures: their names stand there instead; reports have cases of their own."""

    @wraps(pages)
    def run() -> Any:
        with (
            mock.patch("altmin.report.page.has_matplotlib", lambda: False),
            mock.patch.object(
                GuaranteeReport, "_repr_html_", lambda report: f"<p>report: {report.verdict}</p>"
            ),
        ):
            return pages()

    return case(run)


def words(n: int) -> list[str]:
    """Names of columns."""
    return [f"w{j}" for j in range(n)]


@plain
def pages_of_models() -> Any:
    X, W = noisy_cone(), noisy_cone().shape[1]
    model = AND(3, max_iter=20, **ON).fit(X)
    model.guarantee(X)
    model.components_ = cone().components + 0.01 * np.arange(W)  # no two entries are equal
    many = AND(3, max_iter=2, **ON).fit(X)
    many.components_ = np.tile(model.components_, (25, 1))
    rows, y = law(0.1).X, law(0.1).y
    machine = MACHINE(2, **ON).fit(rows, y)
    found = {
        "AND": model_page(model, X, words=words(W)),
        "curves": model_page(many),
        "pictures": model_page(many, image_shape=(4, W // 4)),
        "machine": model_page(machine, words=words(rows.shape[1])),
        "machine without names": model_page(machine, words=words(rows.shape[1] - 1)),
        "signal": model_page(PHASE(max_iter=20, **ON).fit(*designs())),
        "matrix": model_page(SENSING(1, **ON).fit(*designs())),
        "outliers": model_page(
            APPROXIMATE(12, n_nonzero_coefs=2, max_iter=2, contamination=0.1, **ON).fit(planted())
        ),
    }
    with TemporaryDirectory() as folder:
        written = write_model_page(many, Path(folder) / "page.html", X, words=words(W))
        found["written"] = written.read_text(encoding="utf-8")
    return {name: outline(text) for name, text in found.items()}


@plain
def pages_of_rooms() -> Any:
    rng = np.random.default_rng(0)
    S = rng.dirichlet(np.full(96, 0.1), 3)
    made = rng.poisson(rng.gamma(1.0, 400.0, (12, 3)) @ S).astype(float)
    model = signatures.SignatureModel(n_refits=2, most=3).fit(made)
    model.guarantee(made)
    known = np.vstack([S, 0.5 * S[:1] + 0.5 * S[1:2]])
    time = np.linspace(0, 1, 20)[:, None]
    mixed = np.exp(-(((time - [0.3, 0.6]) / 0.15) ** 2)) @ (rng.random((2, 15)) + 0.1)
    mixed += 1e-4 * rng.random(mixed.shape)  # what is left over is more than rounding
    resolved = mixtures.resolve(mixed, 2, unimodal=True)
    return {
        "signatures": outline(
            signatures_page(
                model, signatures.match(model, known), signatures.refit(made, S[:2]), title="a <cohort>"
            )
        ),
        "signatures alone": outline(signatures_page(signatures.SignatureModel(2, n_refits=0).fit(made))),
        "mixtures": outline(
            mixtures_page(resolved, mixtures.feasible_bands(resolved, n_moves=20), title="two <dyes>")
        ),
    }


@plain
def pages_of_discoveries() -> Any:
    found = altmin.discover(noisy_cone()[:150], budget="quick", random_state=0)
    ruled = altmin.discover(law(0.05).X[:300], law(0.05).y[:300], budget="quick", random_state=0)
    with TemporaryDirectory() as folder:
        out = Path(folder) / "page.html"
        shown = {
            name: write_page(one, out, "a <table>", words=words(width)).read_text(encoding="utf-8")
            for name, one, width in (("factors", found, cone().X.shape[1]), ("law", ruled, 10))
        }
    return {name: _without_seconds(outline(text)) for name, text in shown.items()}


def _without_seconds(lines: list[list[str]]) -> list[list[str]]:
    """Of the table of what was tried, the column that says how long it took differs each time."""
    return [line for line in lines if not re.fullmatch(r"\(number\) \d+\.\d", line[0])]


@case
def pieces_of_pages() -> Any:
    return page("AndNMF", "a < b", Raw("<p>raw</p>"), lead="the lead", script="let a = 1").partition(
        "<body>"
    )[2]
