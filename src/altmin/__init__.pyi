from altmin import datasets as datasets
from altmin import metrics as metrics
from altmin.estimators.and_nmf import AND as AND
from altmin.estimators.factorization_machine import (
    FactorizationMachineRegressor as FactorizationMachineRegressor,
)
from altmin.estimators.model_file import load as load
from altmin.estimators.model_file import save as save

__version__: str
_HOMES: dict[str, str]
