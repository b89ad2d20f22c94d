"""``altmin denoise`` and ``altmin inpaint``: a picture in, a better one and a page before / after out."""

from __future__ import annotations

import io
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from altmin.cli.tables import FileError, check_target
from altmin.images import denoise, estimate_noise, inpaint
from altmin.images.noise import Noise
from altmin.report.page import Raw, join, page, picture, table, tag

_WRITTEN = (".png", ".tif", ".tiff", ".jpg", ".jpeg", ".webp", ".bmp", ".npy")
_SHOWN, _DETAIL = 1200, 160  # pixels of a side on the page, and of the part that is magnified


@dataclass(frozen=True)
class Picture:
    """A picture of a file: its colours, and its transparency (H, W), if it has one."""

    pixels: NDArray[Any]
    alpha: NDArray[Any] | None


def denoise_picture(source: Path, out: Path, sigma: float | None, html: Path | None, quiet: bool) -> None:
    """Denoise a file, write the result and the page, and say where they are."""
    html = _check(source, out, html)
    before = read_picture(source)
    begin = time.perf_counter()
    strength = estimate_noise(before.pixels) if sigma is None else sigma
    after = denoise(before.pixels, sigma, verbose=not quiet)
    facts = {"strength of the noise": _said(strength), **_facts(before, time.perf_counter() - begin)}
    _finish(Picture(after, before.alpha), out, html, before.pixels, facts, f"{source.name}, denoised")


def inpaint_picture(
    source: Path, mask: Path | None, out: Path, sigma: str | None, html: Path | None, quiet: bool
) -> None:
    """Fill in the missing pixels of a file, write the result and the page, and say where they are."""
    html = _check(source, out, html)
    before = read_picture(source)
    missing = _missing(before, mask)
    begin = time.perf_counter()
    strength = _strength(sigma)
    after = inpaint(before.pixels, missing, sigma=strength, verbose=not quiet)
    facts = {"pixels that were missing": f"{missing.mean():.1%}"}
    if strength is not None:
        noise = estimate_noise(before.pixels, missing) if isinstance(strength, str) else strength
        facts["strength of the noise"] = _said(noise)
    facts |= _facts(before, time.perf_counter() - begin)
    holes = before.pixels.copy()
    holes[missing] = 0
    # Transparent pixels were the holes: the picture that is filled in has none.
    alpha = before.alpha if mask is not None else None
    _finish(Picture(after, alpha), out, html, holes, facts, f"{source.name}, filled in")


def read_picture(path: Path) -> Picture:
    """Read a picture of any usual kind.

    Parameters
    ----------
    path : Path
        A picture file, or an array of shape (H, W) or (H, W, channels) as npy.

    Returns
    -------
    Picture
        Grey or colour in the type of the file, upright, and its transparency.
    """
    if not path.exists():
        raise FileError(f"there is no file {path}")
    if path.suffix == ".npy":
        return Picture(np.load(path, allow_pickle=False), None)
    image_of, upright, unknown = _pillow()
    if _sixteen_bit_colour(path):
        raise FileError(f"{path} has 16 bits for each colour, which Pillow would cut to 8: save it as npy")
    try:
        with image_of(path) as file:
            image = upright(file)
            if image.mode in ("P", "PA") or "transparency" in image.info:
                image = image.convert("RGBA" if "transparency" in image.info or image.mode == "PA" else "RGB")
            elif image.mode not in ("L", "LA", "RGB", "RGBA", "F", "I") and "I;16" not in image.mode:
                image = image.convert("L" if image.mode == "1" else "RGB")
            pixels, mode = np.asarray(image), image.mode
    except (unknown, OSError) as error:
        raise FileError(f"{path} can't be read as a picture ({error})") from None
    if mode not in ("LA", "RGBA"):
        return Picture(pixels, None)
    return Picture(np.ascontiguousarray(pixels[:, :, :-1].squeeze()), pixels[:, :, -1])


def write_picture(made: Picture, path: Path) -> None:
    """Write a picture by the ending of its path, one of ``_WRITTEN``."""
    pixels, alpha = made.pixels, made.alpha
    if path.suffix == ".npy":
        np.save(path, pixels)
        return
    from PIL import Image

    if alpha is not None:
        if path.suffix in (".jpg", ".jpeg", ".bmp"):
            raise FileError(f"{path.suffix} keeps no transparency: write to png, tif or webp")
        pixels = np.dstack([pixels, alpha])
    try:
        Image.fromarray(pixels).save(path)
    except (TypeError, OSError) as error:
        raise FileError(f"{path.suffix} can't hold this picture ({error}): write to tif or npy") from None


def _check(source: Path, out: Path, html: Path | None) -> Path:
    check_target(out, _WRITTEN)
    if out.resolve() == source.resolve():
        raise FileError(f"{out} is the picture itself: name another file")
    html = out.with_suffix(".html") if html is None else html
    check_target(html, (".html",))
    return html


def _pillow() -> tuple[Any, Any, Any]:
    try:
        from PIL import Image, ImageOps, UnidentifiedImageError
    except ImportError:
        raise FileError("pictures need Pillow: pip install 'altmin[images]'") from None
    return Image.open, ImageOps.exif_transpose, UnidentifiedImageError


def _sixteen_bit_colour(path: Path) -> bool:
    """Whether a png has colours of 16 bits, by its header."""
    with path.open("rb") as file:
        head = file.read(26)
    return head[:8] == b"\x89PNG\r\n\x1a\n" and head[24:26] in (b"\x10\x02", b"\x10\x06")


def _missing(before: Picture, mask: Path | None) -> NDArray[np.bool_]:
    shape = before.pixels.shape[:2]
    if mask is not None:
        marks = read_picture(mask).pixels
        missing = marks.reshape(*marks.shape[:2], -1).any(axis=2)
        if missing.shape != shape:
            raise FileError(f"{mask} is {missing.shape[0]} x {missing.shape[1]}, the picture {shape[0]} x {shape[1]}")  # fmt: skip  # noqa: E501
        return np.asarray(missing)
    if before.alpha is None:
        raise FileError("the picture has no transparent pixels: name the missing ones by --mask")
    return np.asarray(before.alpha == 0)


def _said(noise: float) -> str:
    return f"{noise:.3g}" + (f" ± {noise.error:.1g} (estimated)" if isinstance(noise, Noise) else "")


def _strength(text: str | None) -> float | Literal["auto"] | None:
    if text is None:
        return None
    try:
        return "auto" if text == "auto" else float(text)
    except ValueError:
        raise FileError(f"--sigma {text!r}: a number or auto is needed") from None


def _facts(before: Picture, seconds: float) -> dict[str, str]:
    height, width = before.pixels.shape[:2]
    kind = "colour" if before.pixels.ndim == 3 and before.pixels.shape[2] > 1 else "grey"
    return {
        "picture": f"{width} x {height} pixels, {kind}, {before.pixels.dtype}",
        "time": f"{seconds:.1f} seconds",
    }


def _finish(
    after: Picture, out: Path, html: Path, before: NDArray[Any], facts: dict[str, str], title: str
) -> None:
    write_picture(after, out)
    html.write_text(_page(before, after.pixels, facts, title), encoding="utf-8")
    print(f"picture: {out.resolve()}\npage: {html.resolve()}")


def _page(before: NDArray[Any], after: NDArray[Any], facts: dict[str, str], title: str) -> str:
    """The two pictures under a slider, the busiest part magnified, and what was taken out."""
    low, high = float(before.min()), float(before.max())
    if before.dtype == np.uint8:
        low, high = 0.0, 255.0
    grey = [np.asarray(x, np.float64).reshape(*x.shape[:2], -1)[:, :, :3] for x in (before, after)]
    shown = [np.clip((x - low) * (255 / ((high - low) or 1)), 0, 255) for x in grey]
    skip = max(1, -(-max(before.shape[:2]) // _SHOWN))
    grow = max(1, _SHOWN // max(before.shape[:2]))
    left, right = (
        picture(_png(_magnified(x[::skip, ::skip], grow)), name)
        for x, name in zip(shown, _NAMES, strict=True)
    )
    slider = Raw(
        "<input type='range' min='0' max='100' value='50' aria-label='before or after' "
        "oninput=\"this.previousElementSibling.style.setProperty('--cut', this.value + '%')\">"
    )
    compare = tag(
        "div", join(tag("div", left, class_="after"), tag("div", right, class_="after top")), class_="compare"
    )
    part = _busiest(shown[1])
    gap = np.clip(128 + 2 * (shown[0][part] - shown[1][part]), 0, 255)
    details = [picture(_png(_magnified(x, 3)), name, show_caption=True)
               for x, name in zip((shown[0][part], shown[1][part], gap), (*_NAMES, "difference, twice"), strict=True)]  # fmt: skip  # noqa: E501
    return page(
        title,
        Raw(f"<style>{_STYLE}</style>"),
        compare,
        slider,
        tag("p", "Left of the line: before. Right of it: after.", class_="soft"),
        Raw("<h2>In detail</h2>"),
        tag("div", join(*details), class_="details"),
        Raw("<h2>Facts</h2>"),
        table([{"": key, " ": value} for key, value in facts.items()]),
    )


_NAMES = ("before", "after")
_STYLE = """
.compare { position: relative; --cut: 50%; width: fit-content; max-width: 100%; }
.compare figure { margin: 0; } .compare img { display: block; max-width: 100%; height: auto; }
.compare .top { position: absolute; inset: 0; clip-path: inset(0 0 0 var(--cut)); }
.compare::after { content: ''; position: absolute; inset: 0 auto 0 var(--cut); border-left: 2px solid #fff; }
.compare + input { width: 100%; max-width: 40rem; margin: .6rem 0; accent-color: var(--accent); }
.details { display: flex; flex-wrap: wrap; gap: 1rem; }
.details figure { margin: 0; flex: 1 1 10rem; min-width: 0; }
.details img { image-rendering: pixelated; width: 100%; height: auto; }
"""


def _busiest(values: NDArray[Any]) -> tuple[slice, slice]:
    """The part of a picture with the highest contrast."""
    side = [min(_DETAIL, extent) for extent in values.shape[:2]]
    starts = [range(0, extent - s + 1, max(s // 2, 1)) for extent, s in zip(values.shape, side, strict=False)]
    parts = [(slice(y, y + side[0]), slice(x, x + side[1])) for y in starts[0] for x in starts[1]]
    return max(parts, key=lambda part: float(values[part].std()))


def _magnified(values: NDArray[Any], times: int) -> NDArray[Any]:
    return values.repeat(times, axis=0).repeat(times, axis=1)


def _png(values: NDArray[Any]) -> bytes:
    from PIL import Image

    levels = np.rint(values).astype(np.uint8)
    buffer = io.BytesIO()
    Image.fromarray(levels if levels.shape[2] == 3 else levels[:, :, 0]).save(buffer, "png")
    return buffer.getvalue()
