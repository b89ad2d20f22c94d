"""The claims of this family run in their quick form, and their verdicts follow from what they measure."""

import pytest

from altmin_lab.claims import approximate_theorems as theorems
from altmin_lab.claims import approximate_threshold as threshold


@pytest.mark.slow
@pytest.mark.parametrize(
    ("experiment", "verdict"),
    [
        (theorems.approximate_theorem_4, "holds"),
        (theorems.approximate_theorem_7, "holds"),
        (theorems.approximate_theorem_9, "holds partly"),  # not for all t, as printed
        (theorems.approximate_lemma_11, "holds partly"),  # not with the printed step
        (threshold.approximate_theorem_6, "holds"),
        (threshold.approximate_theorem_17, "holds"),
    ],
)
def test_quick_claims(experiment, verdict):
    assert experiment(True).verdict == verdict
