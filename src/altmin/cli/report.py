"""``altmin report``: a page about a saved model."""

from __future__ import annotations

from pathlib import Path

from altmin.cli.fit import load_model, read_features
from altmin.cli.tables import check_target
from altmin.cli.text_files import FileError
from altmin.report.model_page import write_model_page
from altmin.report.page import draw_without_a_screen


def report_model(
    model_file: Path, data: str | None, out: Path, image_shape: str | None, vocabulary: Path | None
) -> None:
    """Write the page and say where it is."""
    draw_without_a_screen()
    check_target(out, (".html",))
    model = load_model(model_file)
    X = None if data is None else read_features(model, data).X
    words = None
    if vocabulary is not None:
        if not vocabulary.exists():
            raise FileError(f"there is no file {vocabulary}")
        words = vocabulary.read_text(encoding="utf-8").splitlines()
        if len(words) != model.components_.shape[1]:
            raise FileError(
                f"{vocabulary} has {len(words)} words, the model {model.components_.shape[1]} features"
            )
    page = write_model_page(model, out, X, image_shape=image_shape_of(image_shape), words=words)
    print(f"page: {page.resolve()}")


def image_shape_of(text: str | None) -> tuple[int, int] | None:
    """Height and width from a text like 8x8."""
    if text is None:
        return None
    try:
        height, width = (int(side) for side in text.lower().split("x"))
    except ValueError:
        raise FileError(f"--image-shape {text!r}: write it as height x width, for example 8x8") from None
    return height, width
