"""Patches are cut and put back exactly, whatever the size, step and number of channels."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from altmin import OrthogonalDictionaryLearning
from altmin.images import Patches, patches


def explicit(image, height, width, tops, lefts):
    image = image.reshape(*image.shape[:2], -1)
    return np.array([image[t : t + height, s : s + width].ravel() for t in tops for s in lefts])


@settings(max_examples=40, deadline=None)
@given(
    st.integers(1, 14), st.integers(1, 14), st.integers(1, 6), st.integers(1, 6), st.integers(1, 5),
    st.sampled_from([0, 1, 3, 4]), st.booleans(), st.booleans(),
)  # fmt: skip
def test_rebuild_of_the_patches_is_the_image(H, W, h, w, step, channels, tile, center):
    h, w = min(h, H), min(w, W)
    shape = (H, W, channels) if channels else (H, W)
    image = np.random.default_rng(0).standard_normal(shape)
    patches = Patches(image, (h, w), step="tile" if tile else step, center=center)
    weights = np.random.default_rng(1).uniform(0.5, 2, patches.n_rows)
    back = patches.rebuild(lambda X, rows: (X, weights[rows]))
    np.testing.assert_allclose(back.reshape(shape), image, atol=1e-12)


@pytest.mark.parametrize("shape", [(9, 11), (9, 11, 3)])
@pytest.mark.parametrize("center", [False, True])
def test_rows_are_the_patches_of_all_images_in_order(shape, center):
    rng = np.random.default_rng(0)
    images = [rng.standard_normal(shape), rng.standard_normal((7, 8, *shape[2:]))]
    patches = Patches(images, (3, 4), step=2, center=center)
    expected = np.vstack(
        [
            explicit(images[0], 3, 4, (0, 2, 4, 6), (0, 2, 4, 6, 7)),
            explicit(images[1], 3, 4, (0, 2, 4), (0, 2, 4)),
        ]
    )
    if center:
        pixels = expected.reshape(len(expected), 12, -1)
        expected = (pixels - pixels.mean(axis=1, keepdims=True)).reshape(expected.shape)
    assert patches.shape == expected.shape
    np.testing.assert_allclose(patches.read(0, patches.n_rows).X, expected, atol=1e-12)
    ids = np.array([0, 3, 19, 20, 28])
    np.testing.assert_allclose(patches.take(ids).X, expected[ids], atol=1e-12)


def test_an_estimator_learns_from_patches_as_from_their_table():
    image = np.random.default_rng(0).standard_normal((40, 30)).cumsum(0).cumsum(1)
    patches = Patches(image, 4, center=True)
    lazy = OrthogonalDictionaryLearning(init="dct", keep=0.2, max_iter=5).fit(patches)
    table = OrthogonalDictionaryLearning(init="dct", keep=0.2, max_iter=5).fit(patches.take(np.arange(999)).X)
    assert patches.n_rows == 999
    assert np.array_equal(lazy.components_, table.components_)
    assert lazy.transform(patches).shape == (999, 16)


def test_types_and_input_are_kept():
    image = np.random.default_rng(0).integers(0, 255, (12, 12), dtype=np.uint8)
    image.flags.writeable = False
    assert Patches(image, 3).read(0, 2).X.dtype == np.float64
    assert Patches(image.astype(np.float32), 3).read(0, 2).X.dtype == np.float32


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"size": 9}, "size is"),
        ({"size": 0}, "size is"),
        ({"size": 3, "step": 0}, "step is 0"),
        ({"size": 3, "step": "half"}, "step is 'half'"),
    ],
)
def test_errors_name_the_argument(options, words):
    with pytest.raises(ValueError, match=words):
        Patches(np.ones((8, 8)), **options)


def test_images_that_are_none_are_refused():
    with pytest.raises(TypeError, match="dtype"):
        Patches(np.ones((8, 8), bool))
    with pytest.raises(ValueError, match="shape"):
        Patches(np.ones(8), 2)
    with pytest.raises(ValueError, match="channels"):
        Patches([np.ones((8, 8)), np.ones((8, 8, 3))], 2)
    with pytest.raises(ValueError, match="empty"):
        Patches([], 2)


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_strips_are_in_flight_twice_as_many_as_threads(n_jobs, monkeypatch):
    ahead = []
    real = patches.map_in_order
    monkeypatch.setattr(
        patches, "map_in_order", lambda *given: ahead.append((given[2] is None, given[3])) or real(*given)
    )
    image = np.random.default_rng(0).random((30, 20))
    cut = Patches(image, 4)
    again = cut.rebuild(lambda X, ids: (X, np.ones(len(X))), n_jobs)
    np.testing.assert_allclose(np.squeeze(again), image)
    assert ahead == [(n_jobs == 1, 2 * n_jobs)]
