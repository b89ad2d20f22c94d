"""``altmin warm`` goes through every compiled loop, so that no first fit waits for the compiler."""

from __future__ import annotations

import subprocess
import sys

import pytest

from altmin.cli import warm

# Of each job: what it fits, with options in words, and what it asks of the fits.
WARMED = {
    "mixtures, with noise and with holes": (
        "AND() AND.fit() AND.fit.guarantee() AND(missing=mask, decoder=nnls) AND.fit() AND.fit.transform()"
    ),
    "counts and topics": (
        "AND() AND.fit() AND.fit.transform() TopicModel() TopicModel.fit() "
        "TopicModel.fit.transform() signatures.refit()"
    ),
    "curves and their bands": ("mixtures.resolve(unimodal=True) mixtures.feasible_bands()"),
    "dictionaries": (
        "CompleteDictionaryLearning() CompleteDictionaryLearning.fit() "
        "CompleteDictionaryLearning.fit.guarantee() OnlineDictionaryLearning() "
        "OnlineDictionaryLearning.fit() OrthogonalDictionaryLearning() "
        "OrthogonalDictionaryLearning.fit() CompleteDictionaryLearning() "
        "CompleteDictionaryLearning.fit() CompleteDictionaryLearning.fit.guarantee() "
        "OnlineDictionaryLearning() OnlineDictionaryLearning.fit() OrthogonalDictionaryLearning() "
        "OrthogonalDictionaryLearning.fit()"
    ),
    "overcomplete dictionaries, sparse coding": (
        "ApproximateDictionaryLearning() ApproximateDictionaryLearning.fit() "
        "ApproximateDictionaryLearning() ApproximateDictionaryLearning.fit() omp(selection=omp) "
        "omp(selection=omp) omp(selection=omp) omp(selection=ormp) omp(selection=ormp) "
        "omp(selection=ormp) SparseCoder(transform_algorithm=lasso) SparseCoder.transform() "
        "threshold_correlation()"
    ),
    "factorization machines, clicks": (
        "FactorizationMachineRegressor() FactorizationMachineRegressor.fit() "
        "FactorizationMachineRegressor() FactorizationMachineRegressor.fit() "
        "FactorizationMachineRegressor() FactorizationMachineRegressor.fit() "
        "FactorizationMachineRegressor.fit.predict() FactorizationMachineClassifier() "
        "FactorizationMachineClassifier.fit() FactorizationMachineClassifier.fit.predict_proba()"
    ),
    "recommenders": (
        "InductiveMatrixCompletion() InductiveMatrixCompletion.fit() "
        "InductiveMatrixCompletion(feedback=implicit) InductiveMatrixCompletion.fit()"
    ),
    "checkpoints": ("AND() AND.fit() AND() AND.fit()"),
    "pictures": ("images.denoise() images.denoise() images.inpaint() images.reconstruct()"),
}

# Solves for more than 5000 items at once: as long as the rest together.
_LEFT_OUT = {"solve_clicks"}

_NEVER_CALLED = """
import importlib, pkgutil
import altmin
from altmin.cli.warm import warm_up
from altmin.kernels.compiled import compiled

loops = {}
for module in pkgutil.walk_packages(altmin.__path__, "altmin."):
    if module.name.startswith(("altmin.kernels", "altmin.algorithms")):
        for item in vars(importlib.import_module(module.name)).values():
            if isinstance(item, compiled):
                loops[f"{item.__module__}.{item.__name__}"] = item
# Some are called by other compiled ones alone.
callees = {
    f"{callee.__module__}.{callee.__name__}"
    for loop in loops.values()
    for name in loop._function.__code__.co_names
    if isinstance(callee := loop._function.__globals__.get(name), compiled)
}
warm_up()
silent = [loop.__name__ for name, loop in loops.items() if name not in callees and loop._dispatcher is None]
print("never called:", *silent)
"""


@pytest.mark.slow
def test_every_compiled_loop_is_warmed() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _NEVER_CALLED], capture_output=True, text=True, check=True, timeout=280
    )
    *lines, last = done.stdout.splitlines()
    assert set(last.removeprefix("never called:").split()) == _LEFT_OUT
    assert lines[-1].startswith("done in")


def test_the_command_is_listed() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "altmin", "--help"], capture_output=True, text=True, check=True
    )
    assert " warm " in done.stdout


def _is_told(key: str, value: object) -> bool:
    return isinstance(value, str | bool) and key != "checkpoint"  # which is a folder of the moment


def test_every_job_of_warming_up_does_what_it_is_there_for(monkeypatch) -> None:
    """What is fitted, and what is asked of the fits: names and methods, without fitting anything."""
    calls: list[str] = []

    class Recorder:
        def __init__(self, name: str = "") -> None:
            self.name = name

        def __getattr__(self, name: str) -> Recorder:
            if name.startswith("__"):
                raise AttributeError(name)
            return Recorder(f"{self.name}.{name}".lstrip("."))

        def __call__(self, *args: object, **options: object) -> Recorder:
            told = [f"{key}={value}" for key, value in options.items() if _is_told(key, value)]
            calls.append(f"{self.name}({', '.join(told)})")
            return Recorder(self.name)

    monkeypatch.setattr(warm, "altmin", Recorder())
    found = {}
    for name, job in warm.JOBS.items():
        calls.clear()
        job()
        found[name] = " ".join(call for call in calls)
    assert found == WARMED


def test_every_job_is_done_and_timed(monkeypatch, capsys) -> None:
    import warnings

    done = []

    def short() -> None:
        warnings.warn("too short to converge", stacklevel=2)
        done.append("a")

    monkeypatch.setattr(warm, "JOBS", {"one": short, "two": lambda: done.append("b")})
    clock = iter([10.0, 11.0, 13.5, 14.0, 14.0, 16.0])
    monkeypatch.setattr(warm, "time", type("Clock", (), {"perf_counter": lambda: next(clock)}))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warm.warm_up()
    assert done == ["a", "b"]
    first, *lines = capsys.readouterr().out.splitlines()
    assert first.startswith("Compiling once")
    assert lines == ["  one: 2.5 s", "  two: 0.0 s", "done in 6 s; the next fits begin at once"]
