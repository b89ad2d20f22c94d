"""``altmin signatures`` and ``altmin mixtures``: a table in, a page out, errors in one line."""

from __future__ import annotations

import sys

import numpy as np
import pytest

pytest.importorskip("typer", reason="the extra 'cli' is not installed")
pytest.importorskip("matplotlib")

from altmin.signatures.channels import CHANNELS


@pytest.fixture
def here(tmp_path, monkeypatch, capsys):
    from altmin.cli.app import main

    monkeypatch.chdir(tmp_path)

    def call(*words, code=0):
        monkeypatch.setattr(sys, "argv", ["altmin", *map(str, words)])
        stopped = 0
        try:
            main()
        except SystemExit as stop:
            stopped = stop.code or 0
        text = "".join(capsys.readouterr())
        assert stopped == code, text
        return text

    return call


def write(path, names, rows):
    lines = ["\t".join(["Type", *names])]
    lines += ["\t".join([c, *map(str, r)]) for c, r in zip(CHANNELS["SBS96"], rows.T, strict=True)]
    path.write_text("\n".join(lines) + "\n")


def test_counts_and_a_reference_become_a_page(here, tmp_path):
    rng = np.random.default_rng(0)
    A = rng.dirichlet(np.full(96, 0.1), 4)
    write(tmp_path / "known.txt", ["<b>X1</b>", "X2", "X3", "X4"], A)
    exposures = 1500 * rng.dirichlet([0.3, 0.3], 40)
    write(tmp_path / "counts.txt", [f"p{i}" for i in range(40)], rng.poisson(exposures @ A[:2]))
    told = here("signatures", "counts.txt", "--reference", "known.txt", "-n", 2, "--out", "page.html")
    assert "40 samples, 96 channels (SBS96)" in told and "SBS96A: X2 (cosine" in told + told.replace(
        "B:", "A:"
    )
    page = (tmp_path / "page.html").read_text()
    assert page.count("<img") >= 4 and "src='http" not in page
    assert "<b>X1</b>" not in page and "&lt;b&gt;X1" in page
    assert "p17" in page and "comes again" in page


def test_spectra_become_a_page_with_bands(here, tmp_path):
    rng = np.random.default_rng(0)
    C = np.exp(-((np.arange(40)[:, None] - [12, 24]) ** 2) / 30)
    S = np.exp(-((np.arange(30) - np.array([[8], [20]])) ** 2) / 40)
    np.save(tmp_path / "x.npy", np.vstack([C @ S, 2 * C @ S]) + 0.001 * rng.standard_normal((80, 30)))
    told = here("mixtures", "x.npy", "-n", 2, "--runs", "40,40", "--unimodal", "--out", "page.html")
    assert "2 runs share their spectra" in told and "component 2: share" in told
    page = (tmp_path / "page.html").read_text()
    assert "One peak in each run" in page and "<img" in page


def test_errors_are_one_line(here, tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1,2\n3,4\n")
    assert "names of channels" in here("signatures", "a.csv", code=1)
    assert "there is no file" in here("signatures", "none.txt", code=1)
    np.save(tmp_path / "x.npy", np.ones((6, 5)))
    assert "rows of each run" in here("mixtures", "x.npy", "-n", 1, "--runs", "3;3", code=1)
