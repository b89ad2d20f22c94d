"""The peers that unmix scenes find the materials of a scene with pure pixels."""

from __future__ import annotations

import numpy as np
import pytest

from altmin.datasets import make_scene
from altmin.metrics import spectral_angle
from altmin_lab.peers import unmixing


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
