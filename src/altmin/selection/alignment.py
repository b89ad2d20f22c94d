"""Two fits in the same order and with the same signs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from altmin.metrics.matching import match_components, sine_errors


@dataclass(frozen=True)
class Alignment:
    """The components of one fit as another has them.

    Parameters
    ----------
    components : ndarray of shape (n_reference, n_features)
        In the order of the reference, turned to point its way.
    order : ndarray of int of shape (n_reference,)
        Which component belongs to each of the reference: use it on codes too (``codes[:, order] * signs``).
    signs : ndarray of shape (n_reference,)
        1 or -1.
    angles : ndarray of shape (n_reference,)
        Between each pair, in radians, at most pi/2.
    """

    components: NDArray[Any]
    order: NDArray[np.intp]
    signs: NDArray[Any]
    angles: NDArray[Any]

    @property
    def worst(self) -> float:
        """The largest angle."""
        return float(self.angles.max())


def align_components(components: Any, reference: Any) -> Alignment:
    r"""Match the components of two fits one to one, whatever order and signs they came in.

    .. math:: \max_\pi \sum_i |\cos \angle(a_{\pi(i)}, r_i)|

    Parameters
    ----------
    components : array-like of shape (n_components, n_features), or fitted estimator
        One atom per row, or what has them as ``components_``.
    reference : array-like of shape (n_reference, n_features), or fitted estimator
        The fit to compare with; at most as many components.

    Returns
    -------
    Alignment
        Components in the order and with the signs of the reference, and the angles of the pairs.

    Notes
    -----
    **Guarantee.** The matching is the best one to one, by the sum of the cosines.

    **Cost.** D^2 W for the cosines, D^3 for the matching.

    References
    ----------
    H. W. Kuhn, The Hungarian method for the assignment problem, Naval Research Logistics Quarterly 1955.

    Examples
    --------
    >>> import numpy as np
    >>> from altmin import align_components
    >>> aligned = align_components(-np.eye(3)[[2, 0, 1]], np.eye(3))
    >>> aligned.order.tolist(), aligned.worst
    ([1, 2, 0], 0.0)
    """
    ours = np.asarray(getattr(components, "components_", components), np.float64)
    theirs = np.asarray(getattr(reference, "components_", reference), np.float64)
    if ours.ndim != 2 or theirs.ndim != 2 or ours.shape[1] != theirs.shape[1]:
        raise ValueError(f"components {ours.shape} and reference {theirs.shape} must have the same features")
    order, cosine = match_components(ours, theirs)
    signs = np.where(cosine < 0, -1.0, 1.0)
    # Radians, exact for small angles; a component that is 0 is at a right angle to everything.
    sine = np.where(cosine == 0, 1.0, np.minimum(sine_errors(ours, theirs), 1.0))
    return Alignment(signs[:, None] * ours[order], order, signs, np.arctan2(sine, np.abs(cosine)))
