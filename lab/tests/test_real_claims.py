"""Claims beyond the papers on real data: computed where the data are, and honest where they are not."""

from __future__ import annotations

import os

import numpy as np
import pytest

from altmin.datasets import make_scene
from altmin.metrics import spectral_angle
from altmin_lab.ledger import all_claims
from altmin_lab.peers import unmixing

REAL = ["beyond_unmixing", "beyond_number", "beyond_topics_newsgroups", "beyond_topics_nips", "beyond_parts"]


@pytest.mark.parametrize("name", REAL)
def test_without_the_data_a_claim_says_what_is_missing(name, monkeypatch):
    monkeypatch.delenv("ALTMIN_DATA", raising=False)
    evidence = all_claims()[name].experiment(True)
    assert evidence.verdict == "cannot be run here" and "ALTMIN_DATA" in evidence.summary


@pytest.mark.data
@pytest.mark.slow
@pytest.mark.parametrize("name", REAL)
def test_with_the_data_a_claim_has_a_verdict_and_a_picture(name):
    if not os.environ.get("ALTMIN_DATA"):
        pytest.skip("ALTMIN_DATA does not name the folder with the real data")
    evidence = all_claims()[name].experiment(True)
    assert evidence.verdict in ("holds", "holds partly", "does not hold")
    for draw in evidence.figures.values():
        assert draw().axes


@pytest.mark.slow
def test_missing_entries_are_claimed_on_made_up_data():
    assert all_claims()["beyond_missing"].experiment(True).verdict == "holds"


@pytest.mark.parametrize(
    "method",
    [
        unmixing.vca_endmembers,
        unmixing.nfindr_endmembers,
        unmixing.minimum_volume_endmembers,
        lambda Y, n: unmixing.nmf_endmembers(Y, n, start="spa"),
    ],
)
def test_peers_unmix_a_scene_with_pure_pixels(method):
    scene = make_scene(30, 30, 40, 3, snr=45, mixing=0.05, random_state=0)
    found = method(scene.cube.reshape(-1, 40), 3)
    assert np.mean(spectral_angle(found, scene.endmembers)) < 0.05
