"""altmin finds the true factors of your data, and tells you whether it found them.

Public names are loaded when they are first used, so ``import altmin`` costs next to nothing.
"""

from importlib import import_module

__version__ = "0.1.0.dev0"

# One line per public name; `__init__.pyi` says the same to type checkers (a test compares the two).
_HOMES = {
    "align_components": "altmin.selection.alignment",
    "AND": "altmin.estimators.nonnegative.and_nmf",
    "ApproximateDictionaryLearning": "altmin.estimators.overcomplete.approximate",
    "bootstrap_components": "altmin.selection.bootstrap",
    "CompleteDictionaryLearning": "altmin.estimators.dictionary.complete",
    "FactorizationMachineClassifier": "altmin.estimators.quadratic.classifier",
    "FactorizationMachineRegressor": "altmin.estimators.quadratic.regressor",
    "hard_threshold": "altmin.kernels.thresholds",
    "hypercontractive_norm": "altmin.algorithms.correlation.hypercontractive",
    "InductiveMatrixCompletion": "altmin.estimators.quadratic.matrix_completion",
    "load": "altmin.estimators.model_file",
    "omp": "altmin.coding",
    "OnlineDictionaryLearning": "altmin.estimators.dictionary.online",
    "OrthogonalDictionaryLearning": "altmin.estimators.dictionary.orthogonal",
    "peel_dictionary": "altmin.algorithms.overcomplete.peel_dictionary",
    "PhaseRetrieval": "altmin.estimators.quadratic.phase_retrieval",
    "polar": "altmin.kernels.polar",
    "RankOneSensing": "altmin.estimators.quadratic.sensing",
    "save": "altmin.estimators.model_file",
    "select_n_components": "altmin.selection.number",
    "spa": "altmin.algorithms.nonnegative.pure_samples",
    "SparseCoder": "altmin.estimators.dictionary.sparse_coder",
    "threshold_correlation": "altmin.algorithms.correlation.threshold_correlation",
    "TopicModel": "altmin.text.topics",
    "vca": "altmin.algorithms.nonnegative.pure_samples",
}
_MODULES = ("datasets", "hyperspectral", "images", "metrics", "plots", "text")

__all__ = sorted([*_HOMES, *_MODULES, "__version__"])


def __getattr__(name: str) -> object:
    if name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
    elif name in _MODULES:
        value = import_module(f"altmin.{name}")
    else:
        raise AttributeError(f"module 'altmin' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> "list[str]":
    return __all__
