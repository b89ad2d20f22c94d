"""Dictionaries of image patches as tiles."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from altmin.docstrings import fill_class, fill_function
from altmin.plots._panels import fitted, one_axes


def tile_atoms(
    dictionary: ArrayLike,
    *,
    patch_size: tuple[int, int] | None = None,
    n_columns: int | None = None,
    gap: int = 1,
) -> NDArray[Any]:
    """Atoms side by side in one image.

    Parameters
    ----------
    dictionary : array-like of shape (n_atoms, n_pixels)
        Flattened patches; three times a square number of pixels is colour.
    patch_size : (int, int) or None
        Height and width; None: square.
    n_columns : int or None
        Atoms in a line; None: about as many as lines.
    gap : int
        Pixels between atoms.

    Returns
    -------
    ndarray of shape (H, W) or (H, W, 3)
        Between 0 and 1: each atom's largest magnitude is 0 or 1, zero is .5, gaps are 1.

    Examples
    --------
    >>> import numpy as np
    >>> from altmin.plots.dictionary import tile_atoms
    >>> tile_atoms(np.eye(4)).shape
    (5, 5)
    """
    D = np.asarray(dictionary, dtype=np.float64)
    if D.ndim != 2 or not len(D):
        raise ValueError(f"dictionary has shape {D.shape}; atoms, one a row, are needed")
    height, width, channels = _atom_shape(D.shape[1], patch_size)
    peak = np.abs(D).max(axis=1)
    atoms = 0.5 + 0.5 * D / np.where(peak > 0, peak, 1.0)[:, None]
    columns = n_columns or int(np.ceil(len(D) ** 0.5))
    lines = -(-len(D) // columns)
    picture = np.ones((lines * (height + gap) - gap, columns * (width + gap) - gap, channels))
    for number, atom in enumerate(atoms):
        top, left = (number // columns) * (height + gap), (number % columns) * (width + gap)
        picture[top : top + height, left : left + width] = atom.reshape(height, width, channels)
    return picture[:, :, 0] if channels == 1 else picture


@fill_class
class DictionaryDisplay:
    """A dictionary of image patches as tiles, grey or colour.

    Parameters
    ----------
    dictionary : array-like of shape (n_atoms, n_pixels)
        Atoms as flattened patches.
    patch_size : (int, int) or None
        Height and width; None: square.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes, Figure
        After :meth:`plot`.
    image_ : matplotlib AxesImage
        The tiles.

    Examples
    --------
    >>> import numpy as np
    >>> from altmin.plots import DictionaryDisplay
    >>> DictionaryDisplay(np.eye(4)).plot().image_.get_array().shape
    (5, 5)
    """

    def __init__(self, dictionary: ArrayLike, *, patch_size: tuple[int, int] | None = None) -> None:
        self.dictionary, self.patch_size = np.asarray(dictionary), patch_size

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        patch_size: tuple[int, int] | None = None,
        n_columns: int | None = None,
        title: str | None = None,
        ax: Any = None,
    ) -> DictionaryDisplay:
        """Draw ``components_`` of a fitted estimator.

        Parameters
        ----------
        estimator : fitted estimator
            A model whose ``components_`` are patches.
        patch_size, n_columns, title, ax
            As in the class and in :meth:`plot`.
        """
        made = cls(fitted(estimator, "components_"), patch_size=patch_size)
        return made.plot(n_columns=n_columns, title=title, ax=ax)

    def plot(
        self, *, n_columns: int | None = None, title: str | None = None, ax: Any = None
    ) -> DictionaryDisplay:
        """Draw.

        Parameters
        ----------
        n_columns : int or None
            Atoms in a line; None: about as many as lines.
        """
        picture = tile_atoms(self.dictionary, patch_size=self.patch_size, n_columns=n_columns)
        ax = one_axes(ax, (5, 5 * picture.shape[0] / picture.shape[1]))
        self.image_ = ax.imshow(picture, cmap="gray", vmin=0, vmax=1, interpolation="nearest")
        ax.set_axis_off()
        if title is not None:
            ax.set_title(title)
        self.ax_, self.figure_ = ax, ax.figure
        return self


@fill_function
def plot_dictionary(
    dictionary: ArrayLike,
    *,
    patch_size: tuple[int, int] | None = None,
    n_columns: int | None = None,
    title: str | None = None,
    ax: Any = None,
) -> Any:
    """Draw a dictionary of patches as tiles.

    Parameters
    ----------
    dictionary : array-like of shape (n_atoms, n_pixels), or fitted estimator
        Atoms as flattened patches, or what has them as ``components_``.
    patch_size : (int, int) or None
        Height and width; None: square.
    n_columns : int or None
        Atoms in a line.

    Returns
    -------
    matplotlib Axes
        The picture.

    Notes
    -----
    **Cost.** One image.

    Examples
    --------
    >>> import numpy as np
    >>> from altmin.plots import plot_dictionary
    >>> plot_dictionary(np.eye(16), title="pixels").get_title()
    'pixels'
    """
    made = DictionaryDisplay(getattr(dictionary, "components_", dictionary), patch_size=patch_size)
    return made.plot(n_columns=n_columns, title=title, ax=ax).ax_


def _atom_shape(n_pixels: int, patch_size: tuple[int, int] | None) -> tuple[int, int, int]:
    for channels in (1, 3):
        height, width = patch_size or (round((n_pixels / channels) ** 0.5),) * 2
        if height * width * channels == n_pixels:
            return height, width, channels
    raise ValueError(
        f"dictionary has atoms of {n_pixels} pixels, which is no patch of size {patch_size or 'square'}, "
        "grey or colour"
    )
