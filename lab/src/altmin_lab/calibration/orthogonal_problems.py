"""Problems of orthogonal dictionaries."""

from altmin.estimators.dictionary.orthogonal import OrthogonalDictionaryLearning
from altmin_lab.calibration.dictionary_data import register

register("orthogonal", lambda k, rng: OrthogonalDictionaryLearning(), orthogonal=True, samples=(300, 1200))
