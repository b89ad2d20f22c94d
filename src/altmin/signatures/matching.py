"""Which reference signatures the found ones are, and where one is several or several are one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from altmin.signatures.tables import ChannelTable, read_reference

_LEAST_SHARE = 0.1  # of the smaller of two signatures that make up a third
_GAIN = 0.02  # in cosine, of two signatures over the better one


@dataclass(frozen=True)
class Match:
    """What one found signature is.

    Parameters
    ----------
    name : str
        Of the found signature.
    kind : {'match', 'merge', 'new'}
        One reference signature, a mixture of two, or neither at the threshold.
    references : tuple of str
        The reference signature, or the two; of a new one the closest.
    shares : tuple of float
        Of the references in it.
    cosine : float
        To the reference, or to the mixture of the two.
    """

    name: str
    kind: str
    references: tuple[str, ...]
    shares: tuple[float, ...]
    cosine: float

    def __str__(self) -> str:
        parts = [f"{share:.0%} {name}" for share, name in zip(self.shares, self.references, strict=True)]
        if self.kind == "new":
            return f"{self.name}: new (closest {self.references[0]}, cosine {self.cosine:.3f})"
        what = self.references[0] if self.kind == "match" else "merge of " + " and ".join(parts)
        return f"{self.name}: {what} (cosine {self.cosine:.3f})"


@dataclass(frozen=True)
class Matching:
    """What :func:`match` found.

    Parameters
    ----------
    rows : tuple of Match
        One for each found signature.
    splits : dict of str to tuple of str
        Reference signatures that came apart: the found ones that it takes to make one of them.
    threshold : float
        Cosine from which two signatures count as one.
    """

    rows: tuple[Match, ...]
    splits: dict[str, tuple[str, ...]]
    threshold: float

    def __str__(self) -> str:
        lines = [f"matched at cosine {self.threshold:g}", *map(str, self.rows)]
        lines += [f"{name} is split into {' and '.join(found)}" for name, found in self.splits.items()]
        return "\n".join(lines)

    def names(self) -> tuple[str, ...]:
        """The reference signatures that were found, alone or in a merge, each once."""
        found = [name for row in self.rows if row.kind != "new" for name in row.references]
        return tuple(dict.fromkeys([*found, *self.splits]))


def match(signatures: Any, reference: Any = None, *, threshold: float = 0.9) -> Matching:
    r"""Name found signatures by reference signatures.

    .. math:: \cos(a, s) = \frac{\langle a, s \rangle}{\|a\| \|s\|} \ge \tau

    A found signature that is close to no reference signature may be two of them at once (a *merge*, where
    both always occur together or too few signatures were asked for); two found ones may be parts of a single
    reference (a *split*). Both are named.

    Parameters
    ----------
    signatures : ChannelTable, path, DataFrame, array-like or fitted SignatureModel
        The found signatures, one per row.
    reference : path, DataFrame, ChannelTable, array-like or None
        Reference signatures; see :func:`read_reference`.
    threshold : float
        Cosine from which two signatures count as one. The field uses .8 to .95; some reference signatures
        are themselves within .9 of each other.

    Returns
    -------
    Matching
        One row per found signature, and the splits.

    Notes
    -----
    **Guarantee.** The closest reference, and the closest mixture of two, over all of them.

    **Cost.** All pairs of references for signatures that match none: n_reference^2 / 2 small systems each.

    References
    ----------
    L. B. Alexandrov et al., The repertoire of mutational signatures in human cancer, Nature 2020.

    Examples
    --------
    >>> import numpy as np
    >>> from altmin.signatures import match
    >>> reference = np.random.default_rng(0).dirichlet(np.full(96, 0.1), 5)
    >>> found = np.array([reference[3], 0.5 * reference[0] + 0.5 * reference[1]])
    >>> [row.kind for row in match(found, reference).rows]
    ['match', 'merge']
    """
    if not 0 < threshold < 1:
        raise ValueError(f"threshold={threshold}: a cosine between 0 and 1 is needed")
    found = read_reference(getattr(signatures, "signatures_", signatures))
    known = read_reference(reference)
    if found.channels != known.channels:
        raise ValueError(
            f"signatures have {len(found.channels)} channels ({found.kind}), the reference "
            f"{len(known.channels)} ({known.kind})"
        )
    cosine = _unit(found.values) @ _unit(known.values).T
    rows = tuple(_name(found, known, cosine, row, threshold) for row in range(len(found)))
    return Matching(rows, _splits(found, known, cosine, threshold), threshold)


def _name(
    found: ChannelTable, known: ChannelTable, cosine: NDArray[Any], row: int, threshold: float
) -> Match:
    best = int(np.argmax(cosine[row]))
    single = float(cosine[row, best])
    name, closest = found.names[row], (known.names[best],)
    if single >= threshold:
        return Match(name, "match", closest, (1.0,), single)
    if len(known.names) < 2:  # no two to merge
        return Match(name, "new", closest, (1.0,), single)
    pair, shares, both = _best_pair(found.values[row], known.values)
    if both >= threshold and min(shares) >= _LEAST_SHARE and both >= single + _GAIN:
        largest = np.argsort(-np.array(shares))
        names = tuple(known.names[pair[i]] for i in largest)
        return Match(name, "merge", names, tuple(shares[i] for i in largest), both)
    return Match(name, "new", closest, (1.0,), single)


def _splits(
    found: ChannelTable, known: ChannelTable, cosine: NDArray[Any], threshold: float
) -> dict[str, tuple[str, ...]]:
    """References that only several found signatures together make up, or that several claim."""
    splits = {}
    for column, name in enumerate(known.names):
        claimed = np.flatnonzero((cosine[:, column] >= threshold) & (cosine.argmax(axis=1) == column))
        if len(claimed) > 1:
            splits[name] = tuple(found.names[row] for row in claimed)
        if cosine[:, column].max() >= threshold or len(found) < 2:
            continue
        # parts of a reference are no references of their own, and each is closest to the whole
        parts = np.flatnonzero((cosine.max(axis=1) < threshold) & (cosine.argmax(axis=1) == column))
        if len(parts) < 2:
            continue
        pair, shares, both = _best_pair(known.values[column], found.values[parts])
        if both >= threshold and min(shares) >= _LEAST_SHARE:
            splits[name] = tuple(found.names[parts[row]] for row in pair)
    return splits


def _best_pair(
    target: NDArray[Any], rows: NDArray[Any]
) -> tuple[tuple[int, int], tuple[float, float], float]:
    """The two rows whose non-negative combination is closest in angle: places, shares, cosine."""
    G, h = rows @ rows.T, rows @ target
    i, j = np.triu_indices(len(rows), 1)
    determinant = np.maximum(G[i, i] * G[j, j] - G[i, j] ** 2, 1e-300)
    a = np.maximum((G[j, j] * h[i] - G[i, j] * h[j]) / determinant, 0.0)
    b = np.maximum((G[i, i] * h[j] - G[i, j] * h[i]) / determinant, 0.0)
    length = np.sqrt(np.maximum(a**2 * G[i, i] + 2 * a * b * G[i, j] + b**2 * G[j, j], 1e-300))
    cosine = (a * h[i] + b * h[j]) / (length * np.linalg.norm(target))
    best = int(np.argmax(cosine))
    total = a[best] + b[best]
    shares = (float(a[best] / total), float(b[best] / total)) if total > 0 else (1.0, 0.0)
    return (int(i[best]), int(j[best])), shares, float(cosine[best])


def _unit(rows: NDArray[Any]) -> NDArray[Any]:
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))
