"""The faces experiment of Section 4: dictionaries of 10 x 10 tiles and what they reconstruct and fill in.

Shared by the claims and by the acceptance scripts, so that both speak of the same thing.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from altmin import CompleteDictionaryLearning, OnlineDictionaryLearning
from altmin.images import Patches, inpaint, learn_dictionary, reconstruct
from altmin.images.learn import SPARSE_SHARES
from altmin.metrics import psnr
from altmin_lab.literal_dictionaries import algorithm_3, algorithm_4, preconditioner
from altmin_lab.peers import patch_dictionaries as peers
from altmin_lab.peers.ksvd import data_start, ksvd
from altmin_lab.pictures import Faces

Array = NDArray[Any]

SIDE, N_ATOMS, N_PATCHES = 10, 100, 5000
WHITENED = (
    "Algorithm 3, as printed",
    "Algorithm 2, all tiles",
    "complete",
    "online",
)  # readings of the paper's method
KEPT = 0.93  # threshold that 35 % of standard normal codes pass: the paper gives no Gamma for images


@dataclass(frozen=True)
class Learnt:
    """Atoms, the CPU seconds they took, and whether they code patches without their means."""

    atoms: Array
    seconds: float
    centred: bool = True


def training_patches(faces: Faces, seed: int = 0, *, tiles: bool = True, n: int = N_PATCHES) -> Array:
    """Patches of the training faces as they are: the paper's tiles, or from anywhere."""
    images = list(faces.train)
    return Patches(images, SIDE, step="tile" if tiles else 1).sample(n, seed)


def learn_all(
    faces: Faces, cpu_seconds: float, seed: int = 0, *, peers_too: bool = True
) -> dict[str, Learnt]:
    """Every dictionary from the same 5000 tiles, each with at most that much CPU.

    Parameters
    ----------
    faces : Faces
        Training images.
    cpu_seconds : float
        Cap of those that learn until stopped.
    seed : int
        Of the sample.
    peers_too : bool
        Whether to run all of them, or only DCT, K-SVD and ours.

    Returns
    -------
    dict
        Name to dictionary.
    """
    raw = training_patches(faces, seed)
    X = raw - raw.mean(axis=1, keepdims=True)
    start = data_start(X, N_ATOMS, seed)
    many = _passes(cpu_seconds, 7, 200)
    calls: dict[str, Callable[[], Array]] = {
        "DCT": lambda: peers.cosines(X, N_ATOMS, cpu_seconds),
        "orthogonal": lambda: learn_dictionary(X, max_iter=_passes(cpu_seconds, 7, 25)).components_,
        "orthogonal, sparser": lambda: learn_sparser(faces, seed, _passes(cpu_seconds, 7, 33)),
        "K-SVD, 35 atoms": lambda: ksvd(X, start, n_nonzero=35, cpu_seconds=cpu_seconds),
        "K-SVD, 10 atoms": lambda: ksvd(X, start, n_nonzero=10, cpu_seconds=cpu_seconds),
    }
    whitened: dict[str, Callable[[], Array]] = {
        "Algorithm 3, as printed": lambda: sample_by_sample(raw, cpu_seconds),
        "Algorithm 2, all tiles": lambda: whitened_tiles(raw),
        "complete": lambda: CompleteDictionaryLearning(max_iter=many, random_state=0).fit(raw).components_,
        "online": lambda: OnlineDictionaryLearning(max_iter=many, random_state=0).fit(raw).components_,
    }
    if peers_too:
        calls |= {
            "SPAMS, l1": lambda: peers.spams_l1(X, N_ATOMS, cpu_seconds),
            "MiniBatchDictionaryLearning": lambda: peers.minibatch_scikit_learn(X, N_ATOMS, cpu_seconds),
            **whitened,
        }
    found = {}
    for name, call in calls.items():
        begin = time.process_time()
        atoms = call()
        found[name] = Learnt(atoms, time.process_time() - begin, name not in WHITENED)
    return found


def _passes(cpu_seconds: float, each_second: int, most: int) -> int:
    """Passes of a learner that isn't stopped by the clock: as many as fit under the cap, about."""
    return int(np.clip(each_second * cpu_seconds, 1, most))


def learn_sparser(faces: Faces, seed: int = 0, max_iter: int = 33) -> Array:
    """Ours for filling in: few codes kept, patches from anywhere in the images."""
    X = training_patches(faces, seed, tiles=False, n=10_000)
    X -= X.mean(axis=1, keepdims=True)
    return learn_dictionary(X, shares=SPARSE_SHARES, max_iter=max_iter).components_


def whitened_tiles(raw: Array) -> Array:
    """Algorithm 2 with all tiles as the batch: equation 6's preconditioner, the warm-up, and back."""
    P = preconditioner(raw, 1.0)
    atoms = np.linalg.solve(P, _warm_start(raw @ P.T, 0.97).T).T
    return np.asarray(atoms / np.linalg.norm(atoms, axis=1, keepdims=True))


def sample_by_sample(raw: Array, cpu_seconds: float) -> Array:
    """Algorithm 3: preconditioner and warm-up from the first 1000 tiles, then tile after tile."""
    first = 1000
    P = preconditioner(raw[:first], 1.0)
    start = np.linalg.solve(P, _warm_start(raw[:first] @ P.T, 0.9).T).T
    begin, atoms = time.process_time(), start
    stream = np.concatenate([raw] * 4)
    for found in algorithm_3(stream, start, KEPT, 1.0, first, first):
        atoms = found
        if time.process_time() - begin > cpu_seconds:
            break
    return np.asarray(atoms / np.linalg.norm(atoms, axis=1, keepdims=True))


def _warm_start(V: Array, decay: float) -> Array:
    """Algorithm 4 from the identity, on tiles that are whitened already."""
    *_, (D, _) = algorithm_4(V, float(np.abs(V).max()), decay, KEPT)
    return D


def reconstruction_quality(faces: Faces, learnt: Learnt, n_nonzero: int) -> float:
    """Mean PSNR of the test faces from tiles of n_nonzero atoms and a mean (or one atom more)."""
    count = n_nonzero + (not learnt.centred)
    images = (reconstruct(x, learnt.atoms, count, center=learnt.centred) for x in faces.test)
    return mean_psnr(faces, images)


def missing_pixels(faces: Faces, seed: int = 0) -> Array:
    """Half of the pixels of each test face."""
    return np.random.default_rng([seed, 50]).random(faces.test.shape) < 0.5


def zero_filled_quality(faces: Faces, learnt: Learnt, missing: Array, n_nonzero: int) -> float:
    """The paper's reading: missing pixels are zeros, and OMP codes them like any others."""
    count = n_nonzero + (not learnt.centred)
    holes = np.where(missing, 0.0, faces.test)
    return mean_psnr(faces, (reconstruct(x, learnt.atoms, count, center=learnt.centred) for x in holes))


def filling_quality(faces: Faces, atoms: Array, missing: Array, **options: Any) -> float:
    """Mean PSNR of the test faces with the missing pixels filled in by :func:`altmin.images.inpaint`."""
    images = (inpaint(x, hole, atoms, **options) for x, hole in zip(faces.test, missing, strict=True))
    return mean_psnr(faces, images)


def mean_psnr(faces: Faces, images: Any) -> float:
    """Mean over the test faces, values clipped to their range."""
    pairs = zip(images, faces.test, strict=True)
    return float(np.mean([psnr(np.clip(image, 0, 1), truth) for image, truth in pairs]))
