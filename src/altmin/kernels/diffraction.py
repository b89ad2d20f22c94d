"""Coded diffraction: Fourier transforms of a signal behind masks, as a matrix that is never formed."""

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
