"""Designs that are never formed: Fourier transforms behind masks, and any linear operator."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.fft
from numpy.typing import NDArray


class Diffraction:
    """The rows exp(-i<f, .>) * mask of all masks and frequencies; products by fast Fourier transforms.

    Parameters
    ----------
    masks : ndarray of shape (n_masks, d)
        What the signal is multiplied with.
    shape : tuple of int
        Shape of the signal, of d entries.
    """

    def __init__(self, masks: NDArray[Any], shape: tuple[int, ...]) -> None:
        self._masks, self._shape = masks, shape
        self._axes = tuple(range(-len(shape), 0))

    def __matmul__(self, s: NDArray[Any]) -> NDArray[Any]:
        """Fields of a signal, or of each column of several."""
        if s.ndim == 2:
            return np.column_stack([self @ column for column in s.T])
        behind = (self._masks * s).reshape(-1, *self._shape)
        return np.asarray(scipy.fft.fftn(behind, axes=self._axes)).ravel()

    def adjoint(self, fields: NDArray[Any]) -> NDArray[Any]:
        """The conjugate transpose times fields, or times each column of several."""
        if fields.ndim == 2:
            return np.column_stack([self.adjoint(column) for column in fields.T])
        back = scipy.fft.ifftn(fields.reshape(-1, *self._shape), axes=self._axes, norm="forward")
        return np.asarray(np.sum(self._masks.conj() * back.reshape(self._masks.shape), axis=0))

    def powers(self, weight: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Sums over the rows of the second and fourth powers of the entries."""
        squares = np.square(np.abs(self._masks))
        d = self._masks.shape[1]
        return d * squares.sum(axis=0), d * np.square(squares).sum(axis=0)


_ALL_COLUMNS, _SOME_COLUMNS = 1024, 64  # of an operator, looked at for their sizes


class OperatorDesign:
    """The rows of a linear operator, of which nothing is known but its products.

    Parameters
    ----------
    operator : scipy.sparse.linalg.LinearOperator
        With ``matvec`` and ``rmatvec``.
    """

    def __init__(self, operator: Any) -> None:
        self._operator = operator

    def __matmul__(self, s: NDArray[Any]) -> NDArray[Any]:
        """Products with a vector, or with each column of several."""
        if s.ndim == 2:
            return np.column_stack([self @ column for column in s.T])
        return np.asarray(self._operator.matvec(s))

    def adjoint(self, fields: NDArray[Any]) -> NDArray[Any]:
        """The conjugate transpose times fields, or times each column of several."""
        if fields.ndim == 2:
            return np.column_stack([self.adjoint(column) for column in fields.T])
        return np.asarray(self._operator.rmatvec(fields))

    def powers(self, weight: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Sums over the rows of second and fourth powers of the entries (many columns: from some of them)."""
        d = self._operator.shape[1]
        some = np.unique(np.linspace(0, d - 1, d if d <= _ALL_COLUMNS else _SOME_COLUMNS).astype(np.intp))
        found = np.empty((2, len(some)))
        for place, column in enumerate(some):
            squares = np.square(np.abs(self @ np.eye(1, d, column)[0]))
            found[:, place] = weight @ squares, weight @ np.square(squares)
        if len(some) == d:
            return found[0], found[1]
        return np.full(d, found[0].mean()), np.full(d, found[1].mean())


class CodedDiffraction:
    r"""Designs of coded diffraction: the Fourier transform of the signal behind each of several masks.

    .. math:: y_l = |F (m_l \odot s)|^2, \qquad l = 1, \dots, L

    Parameters
    ----------
    masks : array-like of shape (n_masks, ...)
        What the signal, of the given shape, is multiplied with before each measurement.

    Attributes
    ----------
    masks : ndarray of shape (n_masks, ...)
        The masks.

    Notes
    -----
    **Guarantee.** That of the fit it is given to; three random masks leave only the global phase open.

    **Cost.** A product takes one fast Fourier transform for each mask; no matrix is formed.

    References
    ----------
    E. J. Candes, X. Li and M. Soltanolkotabi, Phase retrieval from coded diffraction patterns, Applied and
    Computational Harmonic Analysis 2015.

    Examples
    --------
    >>> import numpy as np
    >>> from altmin import CodedDiffraction, PhaseRetrieval
    >>> rng = np.random.default_rng(0)
    >>> s = rng.standard_normal(64) + 1j * rng.standard_normal(64)
    >>> designs = CodedDiffraction(np.exp(2j * np.pi * rng.random((6, 64))))
    >>> model = PhaseRetrieval(random_state=0).fit(designs, designs.intensities(s))
    >>> bool(abs(abs(np.vdot(model.signal_, s)) / np.linalg.norm(s) ** 2 - 1) < 1e-6)
    True
    """

    def __init__(self, masks: Any) -> None:
        self.masks = np.asarray(masks)
        if self.masks.ndim < 2:
            raise ValueError(f"masks has shape {self.masks.shape}: (n_masks, *shape of the signal) is needed")

    def intensities(self, signal: Any) -> NDArray[Any]:
        """What would be measured of a signal.

        Parameters
        ----------
        signal : array-like of the shape of a mask
            The signal.

        Returns
        -------
        ndarray of the shape of the masks
            Intensities, one for each mask and frequency.
        """
        flat = self.masks.reshape(len(self.masks), -1)
        fields = Diffraction(flat, self.masks.shape[1:]) @ np.ravel(np.asarray(signal))
        return np.asarray(np.square(np.abs(fields)).reshape(self.masks.shape))
