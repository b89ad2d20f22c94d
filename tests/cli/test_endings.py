"""Endings of files and commands: each kind of table and picture comes back, a missing package is named."""

import contextlib
import signal
import sys

import numpy as np
import pytest

pytest.importorskip("typer", reason="the extra 'cli' is not installed")
pytest.importorskip("pyarrow", reason="the extra 'cli' is not installed")
pytest.importorskip("PIL", reason="the extra 'images' is not installed")

from PIL import Image

import altmin
from altmin import __main__ as command
from altmin.cli import app, ctrl_c, fit, pictures, tables
from altmin.cli.tables import Wanted, read_table, write_table
from altmin.cli.text_files import FileError

CODES = np.arange(12.0).reshape(4, 3) / 7


@pytest.mark.parametrize("ending", ["npy", "npz", "csv", "tsv", "parquet", "feather"])
def test_tables_that_are_written_are_read_again(ending, tmp_path):
    path = tmp_path / f"codes.{ending}"
    write_table(CODES, path, ["a", "b", "c"], {"name": ["x", "y", "z", "w"]})
    if ending in ("npy", "npz"):
        found = np.load(path) if ending == "npy" else np.load(path)["X"]
    else:
        frame = read_table(path, Wanted())
        assert frame.columns == ["a", "b", "c"]
        found = np.asarray(frame.X)
    np.testing.assert_allclose(found, CODES)


def test_one_column_is_a_table_too(tmp_path):
    write_table(CODES[:, 0], tmp_path / "y.csv", ["prediction"], None)
    np.testing.assert_allclose(np.asarray(read_table(tmp_path / "y.csv").X).ravel(), CODES[:, 0])


@pytest.mark.parametrize("ending", ["npy", "csv"])
def test_the_target_may_be_a_file(ending, tmp_path):
    y = tmp_path / f"y.{ending}"
    write_table(CODES, tmp_path / "x.csv", ["a", "b", "c"], None)
    write_table(CODES[:, :1] * 2, y, ["y"], None)
    frame = read_table(tmp_path / "x.csv", Wanted(target=str(y)))
    np.testing.assert_allclose(frame.y, 2 * CODES[:, 0])
    with pytest.raises(FileError, match=r"neither a column nor a file \(columns: a, b, c\)"):
        read_table(tmp_path / "x.csv", Wanted(target="price"))


@pytest.mark.parametrize(
    ("ending", "package"),
    [("feather", "pyarrow.feather"), ("parquet", "pyarrow.parquet"), ("jsonl", "pyarrow.json")],
)
def test_a_missing_package_is_named(ending, package, tmp_path, monkeypatch):
    path = tmp_path / f"t.{ending}"
    path.write_bytes(b"{}")
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(FileError, match=rf"t\.{ending}: reading it needs .*pip install 'altmin\[cli\]'"):
        read_table(path)


def test_missing_packages_of_pictures_and_clusters_are_named(monkeypatch, tmp_path):
    Image.fromarray(np.zeros((4, 4), np.uint8)).save(tmp_path / "p.png")
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(FileError, match="pictures need Pillow"):
        pictures.read_picture(tmp_path / "p.png")
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(FileError, match="--dask needs the package distributed"), fit._cluster("tcp://x"):
        raise AssertionError("there is no cluster")


def test_a_table_without_rows_is_refused(tmp_path):
    import pyarrow as pa
    import pyarrow.feather

    pa.feather.write_feather(pa.table({"a": pa.array([], pa.float64())}), tmp_path / "t.feather")
    with pytest.raises(FileError, match="has no rows"):
        read_table(tmp_path / "t.feather")


@pytest.mark.parametrize(
    ("mode", "shape", "transparent"),
    [("L", (4, 5), False), ("1", (4, 5), False), ("RGB", (4, 5, 3), False), ("P", (4, 5, 3), False),
     ("RGBA", (4, 5, 3), True), ("LA", (4, 5), True), ("CMYK", (4, 5, 3), False)],
)  # fmt: skip
def test_every_mode_of_a_picture(mode, shape, transparent, tmp_path):
    grey = np.arange(0, 240, 12, dtype=np.uint8).reshape(4, 5)
    image = Image.fromarray(grey).convert(mode)
    path = tmp_path / ("p.tif" if mode == "CMYK" else "p.png")
    image.save(path)
    found = pictures.read_picture(path)
    assert found.pixels.shape == shape
    assert (found.alpha is not None) == transparent
    if mode in ("L", "RGB", "P", "RGBA", "LA"):
        flat = found.pixels if found.pixels.ndim == 2 else found.pixels[:, :, 0]
        np.testing.assert_array_equal(flat, grey)
    if transparent:
        assert (found.alpha == 255).all()
        pictures.write_picture(found, tmp_path / "again.png")
        np.testing.assert_array_equal(pictures.read_picture(tmp_path / "again.png").pixels, found.pixels)
        with pytest.raises(FileError, match="keeps no transparency"):
            pictures.write_picture(found, tmp_path / "again.jpg")


def test_a_palette_with_a_transparent_colour_keeps_it(tmp_path):
    image = Image.fromarray(np.array([[0, 1], [1, 0]], np.uint8), mode="P")
    image.putpalette([9, 9, 9, 200, 100, 50])
    image.save(tmp_path / "p.png", transparency=1)
    found = pictures.read_picture(tmp_path / "p.png")
    assert found.pixels[0, 1].tolist() == [200, 100, 50]
    assert found.alpha.tolist() == [[255, 0], [0, 255]]


@pytest.mark.parametrize("suffixes", [(), (".html",)])
def test_targets_are_looked_at_before_anything_is_computed(suffixes, tmp_path):
    tables.check_target(tmp_path / "new.html", suffixes)
    assert not (tmp_path / "new.html").exists()
    for path, why in ((tmp_path, "ends in none of" if suffixes else "is a folder"),
                      (tmp_path / "no" / "x.html", "there is no folder")):  # fmt: skip
        with pytest.raises(FileError, match=why):
            tables.check_target(path, suffixes)


def test_the_version_is_told(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["altmin", "--version"])
    with pytest.raises(SystemExit) as stop:
        app.main()
    assert not stop.value.code
    assert capsys.readouterr().out.strip() == altmin.__version__


@pytest.mark.parametrize("swallowed", [False, True])
def test_ctrl_c_is_remembered_whoever_swallows_it(swallowed, monkeypatch):
    def run():
        assert not ctrl_c.pressed()
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            if not swallowed:
                raise
        ctrl_c.last_call()

    monkeypatch.setattr(app, "main", run)
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(SystemExit) as stop:
        command.main()
    assert stop.value.code == 130
    assert signal.getsignal(signal.SIGINT) is before


def test_other_errors_of_a_command_go_through_and_ctrl_c_after_the_last_call_is_ignored(monkeypatch):
    def run():
        ctrl_c.last_call()
        signal.raise_signal(signal.SIGINT)
        raise ZeroDivisionError

    monkeypatch.setattr(app, "main", run)
    with pytest.raises(ZeroDivisionError):
        command.main()


def test_ctrl_c_that_was_raised_where_errors_are_dropped_comes_again(monkeypatch):
    """As in a callback of a compiled module; other dropped errors are told as ever."""
    import time

    class Dropped:
        def __del__(self):
            signal.raise_signal(signal.SIGINT)

    def run():
        thing = Dropped()
        del thing
        for _ in range(100):
            time.sleep(0.02)
        raise AssertionError("nobody noticed")

    monkeypatch.setattr(app, "main", run)
    with pytest.raises(SystemExit) as stop:
        command.main()
    assert stop.value.code == 130
    told = []
    monkeypatch.setattr(sys, "__unraisablehook__", told.append)
    what = type("What", (), {"exc_type": ValueError})
    ctrl_c._lost(what)
    assert told == [what]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"checkpoint": "state"}, "the same command goes on from state"),
        ({"keep_partial": True}, "nothing to keep yet"),
        ({}, "--keep-partial would write the model so far"),
    ],
)
def test_an_interrupted_command_says_what_is_left_of_it(given, words, capsys):
    order = type("Order", (), {"checkpoint": None, "keep_partial": False, **given})
    fit._say_that_nothing_was_written(order)
    said = capsys.readouterr().out
    assert said.startswith("interrupted: no model was written")
    assert words in said


def test_the_last_call_leaves_the_handlers_of_others_alone(monkeypatch):
    monkeypatch.setattr(ctrl_c, "_pressed", False)
    before = signal.getsignal(signal.SIGINT)
    try:
        for handler in (signal.default_int_handler, lambda number, frame: None):
            signal.signal(signal.SIGINT, handler)
            ctrl_c.last_call()
            assert signal.getsignal(signal.SIGINT) is handler
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("keep", [False, True])
def test_ctrl_c_that_a_fit_swallows_ends_the_command(keep, tmp_path, monkeypatch, capsys):
    """The fit has ended in order, as if nothing had been pressed."""
    real = fit._fitted

    def swallowing(*given):
        with contextlib.suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        return real(*given)

    monkeypatch.setattr(fit, "_fitted", swallowing)
    monkeypatch.chdir(tmp_path)
    np.save("X.npy", np.random.default_rng(0).random((30, 4)))
    words = ["altmin", "fit", "AND", "X.npy", "-n", "2", "--set", "max_iter=3"]
    monkeypatch.setattr(sys, "argv", words + ["--keep-partial"] * keep)
    with pytest.raises(SystemExit) as stop:
        command.main()
    assert stop.value.code == 130
    assert (tmp_path / "model.altmin").exists() == keep
    assert ("model of an interrupted fit" if keep else "no model was written") in capsys.readouterr().out


def test_columns_are_picked_in_the_order_of_the_model(tmp_path):
    path = tmp_path / "t.csv"
    write_table(CODES, path, ["a", "b", "c"], {"name": ["x", "y", "z", "w"]})
    model = type("Model", (), {"feature_names_in_": np.array(["c", "a"], dtype=object)})
    frame = fit.read_features(model, str(path))
    assert frame.columns == ["c", "a"]
    np.testing.assert_allclose(frame.X, CODES[:, [2, 0]])
    with pytest.raises(FileError, match=r"lacks 1 column.* of the model: d$"):
        fit.read_features(type("Model", (), {"feature_names_in_": ["d", "a"]}), str(path))
    with pytest.raises(FileError, match="name; name is there, but holds no numbers"):
        fit.read_features(type("Model", (), {"feature_names_in_": ["name", "a"]}), str(path))


@pytest.mark.parametrize("names", [None, ["a", "b", "c"]])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_cell_without_a_number_is_named_with_what_leaves_its_column_out(names, value):
    X = CODES.copy()
    X[2, 1] = X[3, 2] = value
    frame = tables.Frame(X, columns=names)
    word = "infinity" if np.isinf(value) else "NaN"
    error = fit.SourceError(f"X holds {word} at row 2")
    error.cell = (2, 1)
    told = str(fit._hole("t.npy", frame, altmin.AND(2), error))
    assert f"--drop {'b' if names else 2} leaves the column out" in told
    assert ("is infinite" in told) == np.isinf(value)
    assert ("(2 empty cells in all)" in told) == np.isnan(value)
    assert ("--set missing=mask" in told) == np.isnan(value)
    told = str(fit._hole("t.npy", frame, altmin.FactorizationMachineRegressor(2), error))
    assert "missing=mask" not in told


def test_while_a_fit_has_its_own_handler_ctrl_c_is_only_noted(monkeypatch):
    """The fit ends in order, and calls the shell's handler, which raises nothing then."""
    monkeypatch.setattr(ctrl_c, "_pressed", False)
    before = signal.getsignal(signal.SIGINT)
    try:
        signal.signal(signal.SIGINT, lambda number, frame: None)
        ctrl_c._heard(signal.SIGINT, None)
        assert ctrl_c.pressed()
        signal.signal(signal.SIGINT, ctrl_c._heard)
        with pytest.raises(KeyboardInterrupt):
            ctrl_c._heard(signal.SIGINT, None)
    finally:
        signal.signal(signal.SIGINT, before)


def test_ctrl_c_in_another_thread_or_where_others_listen_is_not_taken_over():
    import threading

    before = signal.getsignal(signal.SIGINT)
    with ctrl_c.listening():
        inside = signal.getsignal(signal.SIGINT)
        with ctrl_c.listening():
            assert signal.getsignal(signal.SIGINT) is inside
        assert signal.getsignal(signal.SIGINT) is inside
        seen = []

        def elsewhere():
            with ctrl_c.listening():
                seen.append(signal.getsignal(signal.SIGINT))

        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()
        assert seen == [inside]
    assert signal.getsignal(signal.SIGINT) is before
