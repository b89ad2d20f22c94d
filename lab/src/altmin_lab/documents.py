"""Document-term matrices, read from the folder that ``ALTMIN_DATA`` names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

_FILES = {
    "newsgroups20": ("newsgroups20/newsgroups20_bow.npz", "newsgroups20/vocab.txt"),
    "nips": ("nips_1_12/nips_bow.npz", "nips_1_12/vocab.txt"),
}


def load_counts(folder: Path, name: str) -> tuple[Any, list[str]]:
    """Counts of the documents that are not empty, and the words.

    Parameters
    ----------
    folder : Path
        With the files of the collection: CSR arrays in an npz, a word a line.
    name : {'newsgroups20', 'nips'}
        Which collection.

    Returns
    -------
    counts : csr_array of shape (n_documents, n_words)
        As float64.
    words : list of str
        The vocabulary.
    """
    table, vocabulary = (folder / path for path in _FILES[name])
    stored = np.load(table)
    parts = (stored["data"].astype(np.float64), stored["indices"].astype(np.int32), stored["indptr"])
    counts = sp.csr_array(parts, shape=tuple(int(side) for side in stored["shape"]))
    words = vocabulary.read_text(encoding="utf-8").split("\n")[: counts.shape[1]]
    return counts[np.diff(counts.indptr) > 0], words


def weighted(counts: Any) -> Any:
    """(1 + log tf) idf, documents of unit norm."""
    from sklearn.feature_extraction.text import TfidfTransformer

    return sp.csr_array(TfidfTransformer(sublinear_tf=True).fit_transform(counts))
