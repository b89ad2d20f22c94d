"""Sparse tables on disk: pieces as ``scipy.sparse.save_npz`` writes them, two of them in memory at a time."""

from __future__ import annotations

import threading
import zipfile
from collections import OrderedDict
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from altmin.io.container import DAMAGE
from altmin.io.sparse_structure import check_structure
from altmin.io.tables import RowReader, TableError

_PIECES_IN_MEMORY = 2


class SparseRows(RowReader):
    """Rows of one piece; the piece is the unit that is read, so cut a large matrix into several."""

    sparse = True
    _held: ClassVar[OrderedDict[int, Any]] = OrderedDict()
    _lock: ClassVar[threading.Lock] = threading.Lock()

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            with zipfile.ZipFile(path) as archive:
                shape = np.lib.format.read_array(archive.open("shape.npy"), allow_pickle=False)
                data = archive.open("data.npy")
                version = np.lib.format.read_magic(data)
                headers = (np.lib.format.read_array_header_1_0, np.lib.format.read_array_header_2_0)
                stored, _, dtype = headers[version != (1, 0)](data)
            if shape.shape != (2,) or shape.dtype.kind not in "iu" or min(shape) < 0:
                raise ValueError(f"its shape is {shape.tolist()}")
        except DAMAGE as error:
            raise TableError(f"X: {path} is no matrix of scipy.sparse.save_npz ({error})") from error
        self.shape, self.dtype = (int(shape[0]), int(shape[1])), dtype
        self.nnz = int(np.prod(stored))

    def rows(self, start: int, stop: int) -> Any:
        """Rows start to stop, as CSR."""
        return self._whole()[start:stop]

    def __getitem__(self, index: slice | NDArray[np.intp]) -> Any:
        return self._whole()[index]

    def _whole(self) -> Any:
        with self._lock:
            if id(self) not in self._held:
                while len(self._held) >= _PIECES_IN_MEMORY:
                    self._held.popitem(last=False)
                self._held[id(self)] = self._load()
            self._held.move_to_end(id(self))
            return self._held[id(self)]

    def _load(self) -> Any:
        """The piece as CSR; every index is checked before anything follows it."""
        try:
            matrix = sp.load_npz(self.path)
            check_structure(matrix)
            if matrix.shape != self.shape:
                raise ValueError(f"its parts have the shape {matrix.shape}, it announces {self.shape}")
            return sp.csr_array(matrix)
        except DAMAGE as error:
            raise TableError(f"X: {self.path} is a damaged sparse matrix ({error})") from error

    def __del__(self) -> None:
        self._held.pop(id(self), None)
