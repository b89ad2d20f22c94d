"""altmin finds the true factors of your data, and tells you whether it found them.

Public names are loaded when they are first used, so ``import altmin`` costs next to nothing.
"""

from importlib import import_module

__version__ = "0.1.0"

_HOMES = {
    "align_components": "altmin.selection.alignment",
    "AND": "altmin.estimators.nonnegative.and_nmf",
    "ApproximateDictionaryLearning": "altmin.estimators.overcomplete.approximate",
    "bootstrap_components": "altmin.selection.bootstrap",
    "CompleteDictionaryLearning": "altmin.estimators.dictionary.complete",
    "discover": "altmin.discovery.search",
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
    "CodedDiffraction": "altmin.kernels.diffraction",
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
_MODULES = ("datasets", "hyperspectral", "images", "metrics", "mixtures", "plots", "signatures", "text")

__all__ = sorted([*_HOMES, *_MODULES, "__version__"])

TYPE_CHECKING = False  # type checkers take it for True; importing typing would cost more than all the rest
if TYPE_CHECKING:  # the same names once more; a test compares the two
    from altmin import datasets as datasets
    from altmin import hyperspectral as hyperspectral
    from altmin import images as images
    from altmin import metrics as metrics
    from altmin import mixtures as mixtures
    from altmin import plots as plots
    from altmin import signatures as signatures
    from altmin import text as text
    from altmin.algorithms.correlation.hypercontractive import hypercontractive_norm as hypercontractive_norm
    from altmin.algorithms.correlation.threshold_correlation import (
        threshold_correlation as threshold_correlation,
    )
    from altmin.algorithms.nonnegative.pure_samples import spa as spa
    from altmin.algorithms.nonnegative.pure_samples import vca as vca
    from altmin.algorithms.overcomplete.peel_dictionary import peel_dictionary as peel_dictionary
    from altmin.coding import omp as omp
    from altmin.discovery.search import discover as discover
    from altmin.estimators.dictionary.complete import CompleteDictionaryLearning as CompleteDictionaryLearning
    from altmin.estimators.dictionary.online import OnlineDictionaryLearning as OnlineDictionaryLearning
    from altmin.estimators.dictionary.orthogonal import (
        OrthogonalDictionaryLearning as OrthogonalDictionaryLearning,
    )
    from altmin.estimators.dictionary.sparse_coder import SparseCoder as SparseCoder
    from altmin.estimators.model_file import load as load
    from altmin.estimators.model_file import save as save
    from altmin.estimators.nonnegative.and_nmf import AND as AND
    from altmin.estimators.overcomplete.approximate import (
        ApproximateDictionaryLearning as ApproximateDictionaryLearning,
    )
    from altmin.estimators.quadratic.classifier import (
        FactorizationMachineClassifier as FactorizationMachineClassifier,
    )
    from altmin.estimators.quadratic.matrix_completion import (
        InductiveMatrixCompletion as InductiveMatrixCompletion,
    )
    from altmin.estimators.quadratic.phase_retrieval import PhaseRetrieval as PhaseRetrieval
    from altmin.estimators.quadratic.regressor import (
        FactorizationMachineRegressor as FactorizationMachineRegressor,
    )
    from altmin.estimators.quadratic.sensing import RankOneSensing as RankOneSensing
    from altmin.kernels.diffraction import CodedDiffraction as CodedDiffraction
    from altmin.kernels.polar import polar as polar
    from altmin.kernels.thresholds import hard_threshold as hard_threshold
    from altmin.selection.alignment import align_components as align_components
    from altmin.selection.bootstrap import bootstrap_components as bootstrap_components
    from altmin.selection.number import select_n_components as select_n_components
    from altmin.text.topics import TopicModel as TopicModel
else:

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
