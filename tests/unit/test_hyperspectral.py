"""Unmixing: cubes in, spectra and sum-to-one maps out, whatever bands and pixels are broken."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from altmin import AND
from altmin.datasets import make_scene
from altmin.hyperspectral import abundances, noisy_bands, unmix
from altmin.metrics import abundance_rmse, match_components, spectral_angle


@pytest.fixture(scope="module")
def scene():
    return make_scene(40, 30, 60, 4, snr=35, random_state=1)


@pytest.mark.parametrize("seed", range(3))
def test_spectra_and_maps_of_a_planted_scene_are_found(seed):
    scene = make_scene(40, 40, 60, 4, shading=0.2, random_state=seed)
    result = unmix(scene.cube, 4)
    order, _ = match_components(result.endmembers, scene.endmembers, signed=True)
    assert spectral_angle(result.endmembers, scene.endmembers).max() < 0.02
    assert abundance_rmse(result.abundances, scene.abundances, order) < 0.03


def test_maps_have_the_shape_of_the_scene_and_sum_to_one(scene):
    result = unmix(scene.cube, 4)
    assert result.abundances.shape == (40, 30, 4) and result.valid.all()
    np.testing.assert_allclose(result.abundances.sum(axis=2), 1.0)
    assert result.abundances.min() >= 0
    assert result.endmembers.min() >= 0
    np.testing.assert_allclose(result.component_scales, result.model.component_scales_)


def test_units_of_the_cube_do_not_matter(scene):
    plain, large = unmix(scene.cube, 4), unmix(1e4 * scene.cube, 4)
    np.testing.assert_allclose(large.abundances, plain.abundances, atol=1e-6)
    np.testing.assert_allclose(large.endmembers, 1e4 * plain.endmembers, rtol=1e-6, atol=1e-3)


def test_broken_bands_are_found_and_filled_in(scene):
    cube = scene.cube.copy()
    rng = np.random.default_rng(0)
    cube[:, :, 10] += 0.5 * rng.standard_normal(cube.shape[:2])
    cube[:, :, 20] = 0.3
    cube[:, :, 30] = np.nan
    assert np.flatnonzero(noisy_bands(cube)).tolist() == [10, 20, 30]
    result = unmix(cube, 4)
    known = np.arange(60) != 30
    assert np.isnan(result.endmembers[:, 30]).all()
    good = known & (np.arange(60) != 20)
    assert spectral_angle(result.endmembers[:, good], scene.endmembers[:, good]).max() < 0.05


def test_a_band_in_which_all_materials_look_alike_is_not_noisy(scene):
    cube = scene.cube.copy()
    noise = np.random.default_rng(0).standard_normal(cube.shape[:2])
    cube[:, :, 5] = 0.5 + 0.003 * noise
    assert not noisy_bands(cube)[5]


def test_dead_and_masked_pixels_are_left_out(scene):
    cube = scene.cube.copy()
    cube[:3, :5] = 0
    cube[10, 10] = np.nan
    mask = np.ones(cube.shape[:2], bool)
    mask[-2:] = False
    result = unmix(cube, 4, mask=mask)
    assert not result.valid[:3, :5].any() and not result.valid[10, 10] and not result.valid[-2:].any()
    assert result.valid.sum() == (38 * 30 - 16)
    assert np.all(result.abundances[~result.valid] == 0)
    assert np.isfinite(result.abundances).all()


def test_the_input_is_not_written_to_and_float32_is_kept(scene):
    cube = scene.cube.astype(np.float32)
    before = cube.copy()
    result = unmix(cube, 4)
    np.testing.assert_array_equal(cube, before)
    assert result.endmembers.dtype == np.float32


def test_another_estimator_can_be_given(scene):
    result = unmix(scene.cube, 4, estimator=AND(2, decoder="nnls"))
    assert result.model.n_components == 4


def test_abundances_of_the_true_spectra_are_the_true_ones():
    scene = make_scene(20, 20, 50, 3, snr=80, random_state=0)
    shares = abundances(scene.cube, scene.endmembers)
    assert abundance_rmse(shares, scene.abundances) < 1e-3


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"cube": np.ones((4, 5))}, "rows, columns, bands"),
        ({"bad_bands": "none"}, "bad_bands='none'"),
        ({"bad_bands": [99]}, "below 60"),
        ({"bad_bands": np.ones(60, bool)}, "only 0 of 60 bands"),
        ({"mask": np.ones((2, 2), bool)}, "mask has shape"),
        ({"mask": np.zeros((40, 30), bool)}, "no pixel is left"),
        ({"scaling": "sum"}, "scaling='sum'"),
    ],
)
def test_errors_name_what_is_wrong(scene, change, message):
    arguments = {"cube": scene.cube, "n_endmembers": 4, **change}
    with pytest.raises(ValueError, match=message):
        unmix(**arguments)


@pytest.mark.data
@pytest.mark.parametrize(("name", "n", "bound"), [("samson", 3, 0.045), ("jasper_ridge", 4, 0.1)])
def test_published_scenes_are_unmixed_with_the_defaults(name, n, bound):
    folder = os.environ.get("ALTMIN_DATA")
    if not folder:
        pytest.skip("ALTMIN_DATA does not name the folder with the real data")
    scene = pytest.importorskip("altmin_lab.scenes").load_scene(Path(folder), name)
    result = unmix(scene.cube, n)
    assert spectral_angle(result.endmembers, scene.endmembers).mean() <= bound
