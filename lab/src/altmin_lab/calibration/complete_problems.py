"""Problems of complete dictionaries."""

from altmin.estimators.dictionary.complete import CompleteDictionaryLearning
from altmin_lab.calibration.dictionary_data import register
from altmin_lab.calibration.trial import whole

register(
    "complete",
    lambda k, rng: CompleteDictionaryLearning(k, random_state=whole(rng, 0, 9999)),
    orthogonal=False,
    samples=(300, 1200),
    least=5,
)
