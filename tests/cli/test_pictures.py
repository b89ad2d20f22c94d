"""Pictures in the shell: every usual kind is read, nothing of it is lost, errors are one line."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("typer", reason="the extra 'cli' is not installed")
Image = pytest.importorskip("PIL.Image", reason="the extra 'images' is not installed")


def scene(dtype, channels, limit):
    x, y = np.meshgrid(np.linspace(0, 1, 37), np.linspace(0, 1, 29))
    clean = 0.2 + 0.5 * (x > 0.5) + 0.2 * y
    clean = np.dstack([clean, 0.8 * clean, 0.5 * clean]) if channels else clean
    noise = 0.05 * np.random.default_rng(0).standard_normal(clean.shape)
    return (np.clip(clean + noise, 0, 1) * limit).astype(dtype)


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


@pytest.mark.parametrize(
    ("dtype", "limit", "channels", "ending"),
    [
        (np.uint8, 255, 0, "png"),
        (np.uint8, 255, 3, "png"),
        (np.uint16, 65535, 0, "png"),
        (np.float32, 1, 0, "tif"),
        (np.uint16, 65535, 3, "npy"),
    ],
)
def test_type_and_shape_of_the_picture_are_kept(here, tmp_path, dtype, limit, channels, ending):
    pixels = scene(dtype, channels, limit)
    file, out = tmp_path / f"in.{ending}", tmp_path / f"out.{ending}"
    np.save(file, pixels) if ending == "npy" else Image.fromarray(pixels).save(file)
    text = here("denoise", file.name, "--out", out.name, "-q")
    result = np.load(out) if ending == "npy" else np.asarray(Image.open(out))
    assert result.dtype == dtype and result.shape == pixels.shape
    assert 0 < np.std(result.astype(float) - pixels) < 0.1 * limit
    page = (tmp_path / "out.html").read_text()
    assert "out.html" in text and "estimated" in page and page.count("data:image/png") == 5


def test_transparency_survives_and_marks_what_is_missing(here, tmp_path):
    alpha = np.where(np.random.default_rng(1).random((29, 37)) < 0.3, 0, 200).astype(np.uint8)
    pixels = scene(np.uint8, 3, 255)
    Image.fromarray(np.dstack([pixels, alpha])).save("in.png")
    here("denoise", "in.png", "--out", "clean.png", "--sigma", 12, "-q")
    assert np.array_equal(np.asarray(Image.open("clean.png"))[:, :, 3], alpha)
    here("inpaint", "in.png", "--out", "filled.png", "-q")
    filled = np.asarray(Image.open("filled.png"))
    assert filled.shape == pixels.shape and np.array_equal(filled[alpha > 0], pixels[alpha > 0])


def test_a_mask_is_a_picture_and_noise_may_be_named(here):
    Image.fromarray(scene(np.uint8, 0, 255)).save("in.png")
    mask = np.zeros((29, 37), np.uint8)
    mask[10:13] = 255
    Image.fromarray(mask).save("mask.png")
    here("inpaint", "in.png", "--mask", "mask.png", "--sigma", "auto", "--page", "p.html", "-q")
    assert np.asarray(Image.open("filled.png")).shape == (29, 37)
    assert "(estimated)" in Path("p.html").read_text()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("denoise", "none.png"), "no file none.png"),
        (("denoise", "text.png"), "can't be read as a picture"),
        (("denoise", "in.png", "--out", "in.png"), "the picture itself"),
        (("denoise", "in.png", "--out", "x.pdf"), "ends in none of"),
        (("denoise", "deep.png"), "16 bits"),
        (("inpaint", "in.png"), "--mask"),
        (("inpaint", "in.png", "--mask", "small.png"), "small.png is 4 x 5"),
        (("inpaint", "in.png", "--mask", "in.png", "--sigma", "much"), "--sigma 'much'"),
    ],
)
def test_errors_are_one_line(here, tmp_path, words, said):
    Image.fromarray(scene(np.uint8, 0, 255)).save("in.png")
    Image.fromarray(np.zeros((4, 5), np.uint8)).save("small.png")
    (tmp_path / "text.png").write_text("not a picture")
    head = b"\x89PNG\r\n\x1a\n" + b"\x00\x00\x00\rIHDR" + b"\x00\x00\x00\x08" * 2 + b"\x10\x02\x00\x00\x00"
    (tmp_path / "deep.png").write_bytes(head)
    text = here(*words, code=1)
    assert said in text and text.count("\n") == 1


def test_a_page_about_a_picture_of_one_level():
    from altmin.cli import pictures

    flat = np.full((4, 5, 1), 0.25)
    page = pictures._page(flat, flat, {"noise": "0"}, "flat, denoised")
    assert page.count("<img") >= 2
    assert "flat, denoised" in page
