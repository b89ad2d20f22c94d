from altmin import datasets as datasets
from altmin import hyperspectral as hyperspectral
from altmin import images as images
from altmin import metrics as metrics
from altmin import plots as plots
from altmin import text as text
from altmin.algorithms.correlation.hypercontractive import hypercontractive_norm as hypercontractive_norm
from altmin.algorithms.correlation.threshold_correlation import threshold_correlation as threshold_correlation
from altmin.algorithms.nonnegative.pure_samples import spa as spa
from altmin.algorithms.nonnegative.pure_samples import vca as vca
from altmin.algorithms.overcomplete.peel_dictionary import peel_dictionary as peel_dictionary
from altmin.coding import omp as omp
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
from altmin.kernels.polar import polar as polar
from altmin.kernels.thresholds import hard_threshold as hard_threshold
from altmin.selection.alignment import align_components as align_components
from altmin.selection.bootstrap import bootstrap_components as bootstrap_components
from altmin.selection.number import select_n_components as select_n_components
from altmin.text.topics import TopicModel as TopicModel

__version__: str
_HOMES: dict[str, str]
