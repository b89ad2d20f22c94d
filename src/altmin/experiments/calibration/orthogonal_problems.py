"""Problems of orthogonal dictionaries."""

from altmin.estimators.orthogonal import OrthogonalDictionaryLearning
from altmin.experiments.calibration.dictionary_data import register

register("orthogonal", lambda k, rng: OrthogonalDictionaryLearning(), orthogonal=True, samples=(300, 1200))
