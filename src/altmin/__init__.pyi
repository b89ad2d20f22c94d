from altmin import datasets as datasets
from altmin import metrics as metrics
from altmin.coding import omp as omp
from altmin.estimators.and_nmf import AND as AND
from altmin.estimators.model_file import load as load
from altmin.estimators.model_file import save as save
from altmin.estimators.sparse_coder import SparseCoder as SparseCoder

__version__: str
_HOMES: dict[str, str]
