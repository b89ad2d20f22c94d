"""Figures 1 and 3 of the complete-dictionary paper: faces reconstructed from 35 atoms, and filled in."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from altmin.images import inpaint, reconstruct
from altmin_lab import faces as experiment
from altmin_lab.faces import WHITENED, Learnt
from altmin_lab.ledger import Evidence, Wrong, beside, claim, judge, needs
from altmin_lab.pictures import Faces, data_folder, load_faces

PAPER = "complete-dictionary-learning"
NEEDED = "olivetti/orl_112x92.npz or yale/yale_64x64.npz"
KSVD = ("K-SVD, 35 atoms", "K-SVD, 10 atoms")


@claim(
    paper=PAPER,
    where="Figure 3",
    says="At 35 atoms a tile and the same time, Algorithm 3 reconstructs faces better than K-SVD and DCT.",
    sentence="For fair comparison, we cap the runtime of all algorithms at 50 seconds. ... We use 35 atoms "
    "corresponding a sparsity level of 35%. We see that our method achieves a much better reconstruction "
    "than both KSVD and DCT.",
    wrong=Wrong(
        "the best of altmin's dictionaries takes the place of the paper's",
        {"readings": ("orthogonal", "orthogonal, sparser")},
    ),
    literal=True,
    data=True,
    together="faces",
)
def images_face_reconstruction(quick: bool = False, readings: tuple[str, ...] = WHITENED) -> Evidence:
    """PSNR of unseen faces from 10 and 35 atoms a tile, all dictionaries under one CPU cap."""
    problem = _problem(quick)
    if problem is None:
        return needs(NEEDED)
    faces, learnt, setting = problem
    rows: list[dict[str, Any]] = [
        {"dictionary": name, "CPU s": round(one.seconds, 2)}
        | {f"PSNR, {L} atoms": experiment.reconstruction_quality(faces, one, L) for L in (10, 35)}
        for name, one in learnt.items()
    ]
    at = {row["dictionary"]: float(row["PSNR, 35 atoms"]) for row in rows}
    paper, ours = max(at[name] for name in readings), at["orthogonal"]
    peers = {"DCT": at["DCT"], "K-SVD": max(at[name] for name in KSVD)}
    beaten = [name for name, value in peers.items() if paper > value]
    return Evidence(
        judge(paper > peers["DCT"], paper > peers["K-SVD"]),
        f"The paper's preconditioned learning, best of {len(readings)} readings: {paper:.2f} dB (Algorithm 3 "
        f"as printed {at['Algorithm 3, as printed']:.2f}), better than {' and '.join(beaten) or 'neither'} "
        f"(DCT {peers['DCT']:.2f}, K-SVD {peers['K-SVD']:.2f}). Without the preconditioner, from a cosine "
        f"start: {ours:.2f} dB in {learnt['orthogonal'].seconds:.1f} s.",
        setting,
        {"whitened": paper, "orthogonal": ours, **peers},
        beside({"PSNR, 35 atoms": (at["Algorithm 3, as printed"], ours)}) | {"reconstruction": rows},
        {
            "reconstructed faces": lambda: _draw_reconstructions(faces, learnt),
            "atoms": lambda: _draw_atoms(learnt),
        },
    )


@claim(
    paper=PAPER,
    where="Figure 1",
    says="With half of the pixels missing, OMP with Algorithm 3's dictionary fills faces in much better than "
    "with K-SVD's or DCT.",
    sentence="We choose a random image and artificially corrupt 50% of the pixels. Reconstruction is done "
    "via orthogonal matching pursuit, using the learned dictionaries. Here we use 35 atoms, which "
    "corresponds to a sparsity level of 35%. ... We see the our method achieves a much better denoising "
    "result than both KSVD and DCT.",
    wrong=Wrong("cosines take the place of the paper's dictionary", {"readings": ("DCT",)}),
    literal=True,
    data=True,
    together="faces",
)
def images_face_inpainting(quick: bool = False, readings: tuple[str, ...] = WHITENED) -> Evidence:
    """PSNR of unseen faces, half of the pixels missing: the paper's coder, and better ones."""
    problem = _problem(quick)
    if problem is None:
        return needs(NEEDED)
    faces, learnt, setting = problem
    missing = experiment.missing_pixels(faces)
    rows = []
    for name, one in learnt.items():
        literal = experiment.zero_filled_quality(faces, one, missing, 35)
        row: dict[str, Any] = {"dictionary": name, "holes as zeros, 35 atoms": literal}
        for L in (10, 35):
            row[f"masked OMP, {L} atoms"] = experiment.filling_quality(
                faces, one.atoms, missing, method="omp", n_nonzero_coefs=L
            )
        if name in ("DCT", "orthogonal", "orthogonal, sparser"):
            row["iterated threshold"] = experiment.filling_quality(faces, one.atoms, missing)
        if name == "DCT":
            row["linear MMSE"] = experiment.filling_quality(faces, one.atoms, missing, method="mmse", step=5)
        rows.append(row)
    at = {row["dictionary"]: float(row["masked OMP, 35 atoms"]) for row in rows}
    paper, ksvd = max(at[name] for name in readings), max(at[name] for name in KSVD)
    ours = max(row.get("iterated threshold", 0.0) for row in rows if row["dictionary"] != "DCT")
    literal_wins = _leads(rows, readings, "holes as zeros, 35 atoms")
    any_count_wins = _leads(rows, readings, "masked OMP, 10 atoms", "masked OMP, 35 atoms")
    zeros = max(row["holes as zeros, 35 atoms"] for row in rows)
    pursuits = max(row[f"masked OMP, {L} atoms"] for row in rows for L in (10, 35))
    return Evidence(
        judge(paper > max(at["DCT"], ksvd), literal_wins, any_count_wins),
        f"OMP of 35 atoms on the observed pixels: {paper:.2f} dB, DCT {at['DCT']:.2f}, K-SVD {ksvd:.2f} "
        f"(holes as zeros: nobody beyond {zeros:.2f}). The coder decides: with masked OMP the best "
        f"dictionary gets {pursuits:.2f}, orthogonal learning with iterated thresholds {ours:.2f}.",
        setting,
        {"whitened": paper, "DCT": at["DCT"], "K-SVD": ksvd, "orthogonal, iterated threshold": ours},
        beside({"masked OMP, 35 atoms": (at["Algorithm 3, as printed"], at["orthogonal"])})
        | {"filling in": rows},
        {"filled faces": lambda: _draw_filled(faces, learnt, missing)},
    )


def _leads(rows: list[dict[str, Any]], readings: tuple[str, ...], *columns: str) -> bool:
    """Whether the best reading of the paper's method beats DCT and K-SVD, each at its best column."""

    def best(names: tuple[str, ...]) -> float:
        return max(row[column] for row in rows for column in columns if row["dictionary"] in names)

    return best(readings) > best(("DCT", *KSVD))


@cache
def _problem(quick: bool) -> tuple[Faces, dict[str, Learnt], str] | None:
    folder = data_folder()
    if folder is None or not (folder / "olivetti" / "orl_112x92.npz").exists():
        return None
    faces = load_faces(folder)
    cap = 1.0 if quick else 25.0
    if quick:
        faces = Faces(faces.train, faces.test[::8], faces.made)
    setting = (
        f"{faces.made}; 5000 tiles of 10 x 10, 100 atoms, means apart (whitened ones: an atom more); at most "
        f"{cap:g} s of CPU each (altmin's by the number of passes), one thread. K-SVD: batch OMP in compiled "
        "loops, start at data, trained at 35 and at 10 atoms; SPAMS and MiniBatchDictionaryLearning: lambda "
        "1.2/10 at unit mean energy"
    )
    return faces, experiment.learn_all(faces, cap), setting


def _draw_reconstructions(faces: Faces, learnt: dict[str, Learnt]) -> Any:
    shown = ("DCT", "K-SVD, 35 atoms", "Algorithm 3, as printed", "orthogonal")

    def pictures(face: NDArray[Any], _: int) -> dict[str, NDArray[Any]]:
        found = {"original": face}
        for name in shown:
            one = learnt[name]
            found[name] = reconstruct(face, one.atoms, 35 + (not one.centred), center=one.centred)
        return found

    return _draw_faces(faces, pictures)


def _draw_filled(faces: Faces, learnt: dict[str, Learnt], missing: NDArray[Any]) -> Any:
    def pictures(face: NDArray[Any], number: int) -> dict[str, NDArray[Any]]:
        hole = missing[number]
        found = {"original": face, "half missing": np.where(hole, 0.0, face)}
        for name in ("DCT", "K-SVD, 10 atoms"):
            atoms = learnt[name].atoms
            found[f"{name}\nmasked OMP"] = inpaint(face, hole, atoms, method="omp", n_nonzero_coefs=10)
        found["orthogonal\niterated threshold"] = inpaint(face, hole, learnt["orthogonal, sparser"].atoms)
        return found

    return _draw_faces(faces, pictures)


def _draw_faces(faces: Faces, pictures: Any) -> Any:
    """Two test faces, one a line, with PSNR under each picture."""
    import matplotlib.pyplot as plt

    from altmin.metrics import psnr

    numbers = (0, len(faces.test) - 1)
    lines = [pictures(faces.test[number], number) for number in numbers]
    figure, axes = plt.subplots(2, len(lines[0]), figsize=(2.1 * len(lines[0]), 5), squeeze=False)
    for row, (number, line) in enumerate(zip(numbers, lines, strict=True)):
        for ax, (name, image) in zip(axes[row], line.items(), strict=True):
            ax.imshow(np.clip(image, 0, 1), cmap="gray", vmin=0, vmax=1)
            value = psnr(np.clip(image, 0, 1), faces.test[number])
            ax.set_title(name if value > 100 else f"{name}\n{value:.1f} dB", fontsize=8)
            ax.set_axis_off()
    figure.tight_layout()
    return figure


def _draw_atoms(learnt: dict[str, Learnt]) -> Any:
    import matplotlib.pyplot as plt

    from altmin.plots import plot_dictionary

    names = ("DCT", "orthogonal", "K-SVD, 35 atoms", "Algorithm 3, as printed")
    figure, axes = plt.subplots(1, len(names), figsize=(3.2 * len(names), 3.5))
    for ax, name in zip(axes, names, strict=True):
        plot_dictionary(learnt[name].atoms, title=name, ax=ax)
    figure.tight_layout()
    return figure
