"""Components as images, as spectra, or by their top words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from altmin.docstrings import fill_class, fill_function
from altmin.plots._panels import fitted, one_axes, panels


@fill_class
class ComponentsDisplay:
    """What the components of a factorization look like.

    Parameters
    ----------
    kind : {'auto', 'images', 'words', 'spectra'}
        'auto' is images where ``image_shape`` is given, words where ``feature_names`` are, else spectra.
    image_shape : (int, int), optional
        Height and width of a component.
    feature_names : sequence of str, optional
        One name per feature: bars of the largest entries.
    positions : array-like of shape (n_features,), optional
        Where the features stand in a spectrum, for example wavelengths.

    Attributes
    ----------
    axes_ : ndarray of matplotlib Axes
        After :meth:`plot`: one panel per component, or one for all spectra.
    figure_ : matplotlib Figure
        The figure.

    Examples
    --------
    >>> import numpy as np
    >>> from altmin.plots import ComponentsDisplay
    >>> ComponentsDisplay(np.eye(4), image_shape=(2, 2)).plot().axes_.shape
    (1, 4)
    """

    def __init__(
        self,
        components: ArrayLike,
        *,
        kind: str = "auto",
        image_shape: tuple[int, int] | None = None,
        feature_names: Sequence[str] | None = None,
        positions: ArrayLike | None = None,
    ) -> None:
        self.components = np.asarray(components)
        if self.components.ndim != 2:
            raise ValueError(f"components has shape {self.components.shape}; one component per row is needed")
        if kind not in ("auto", "images", "words", "spectra"):
            raise ValueError(f"kind={kind!r} is none of 'auto', 'images', 'words', 'spectra'")
        known = {"images": image_shape, "words": feature_names, "spectra": True}
        self.kind = (
            next(name for name, given in known.items() if given is not None) if kind == "auto" else kind
        )
        if known[self.kind] is None:
            needed = {"images": "image_shape", "words": "feature_names"}[self.kind]
            raise ValueError(f"kind={kind!r} needs {needed}")
        width = self.components.shape[1]
        for name, given in (("feature_names", feature_names), ("positions", positions)):
            if given is not None and len(given) != width:  # type: ignore[arg-type]
                raise ValueError(f"{name} has {len(given)} entries, components {width} columns")  # type: ignore[arg-type]
        if self.kind == "images" and image_shape is not None and int(np.prod(image_shape)) != width:
            raise ValueError(f"image_shape {image_shape} doesn't make the {width} features of a component")
        self.image_shape, self.feature_names, self.positions = image_shape, feature_names, positions

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        kind: str = "auto",
        image_shape: tuple[int, int] | None = None,
        feature_names: Sequence[str] | None = None,
        positions: ArrayLike | None = None,
        ax: Any = None,
        **options: Any,
    ) -> ComponentsDisplay:
        """Draw ``components_`` of a fitted estimator.

        Parameters
        ----------
        estimator : fitted estimator
            A model with ``components_``.
        kind, image_shape, feature_names, positions
            As in the class; names are by default those that the estimator was fitted with, if any.
        """
        components = fitted(estimator, "components_")
        if feature_names is None and positions is None and kind in ("auto", "words"):
            feature_names = getattr(estimator, "feature_names_in_", None)
        made = cls(
            components, kind=kind, image_shape=image_shape, feature_names=feature_names, positions=positions
        )
        return made.plot(ax=ax, **options)

    def plot(
        self, *, ax: Any = None, columns: int | None = None, n_words: int = 8, title: str = ""
    ) -> ComponentsDisplay:
        """Draw.

        Parameters
        ----------
        columns : int, optional
            Panels in a row: 10 images or 4 lists of words by default.
        n_words : int
            Words of a component.
        """
        draw = {"images": self._images, "words": self._words, "spectra": self._spectra}[self.kind]
        self.axes_ = draw(ax, columns, n_words)
        self.figure_ = self.axes_.flat[0].figure
        if title:
            self.figure_.suptitle(title)
        return self

    def _images(self, ax: Any, columns: int | None, n_words: int) -> np.ndarray:
        n = len(self.components)
        columns = min(columns or -(-n // -(-n // 10)), n)  # lines of ten at most, equally long
        rows = -(-n // columns)
        axes = panels(ax, rows, columns, (columns, rows + 0.2))
        signed = bool(self.components.min() < 0)
        for one in axes.flat[n:]:
            one.set_axis_off()
        for one, atom in zip(axes.flat, self.components, strict=False):
            one.set(xticks=[], yticks=[])
            one.spines[:].set(visible=True, color="#d8dee4")
            limit = float(np.abs(atom).max()) or 1.0
            colours = {"cmap": "RdBu_r", "vmin": -limit} if signed else {"cmap": "Greys", "vmin": 0.0}
            one.imshow(atom.reshape(self.image_shape), vmax=limit, **colours)
        return axes

    def _words(self, ax: Any, columns: int | None, n_words: int) -> np.ndarray:
        names = np.asarray(self.feature_names, dtype=object)
        columns = min(columns or 4, len(self.components))
        rows = -(-len(self.components) // columns)
        axes = panels(ax, rows, columns, (2.6 * columns, rows * (0.5 + 0.21 * n_words)))
        for one in axes.flat[len(self.components) :]:
            one.set_axis_off()
        for number, (one, row) in enumerate(zip(axes.flat, self.components, strict=False)):
            top = np.argsort(-row)[:n_words][::-1]
            one.barh(np.arange(len(top)), row[top], height=0.7)
            one.set_yticks(np.arange(len(top)), [_plain(names[j]) for j in top])
            one.set(title=f"component {number}", xticks=[])
            one.grid(False)
        return axes

    def _spectra(self, ax: Any, columns: int | None, n_words: int) -> np.ndarray:
        one = one_axes(ax, (8, 3.6))
        across = np.arange(self.components.shape[1]) if self.positions is None else np.asarray(self.positions)
        for number, row in enumerate(self.components):
            one.plot(across, row, linewidth=1.2, label=str(number))
        one.set(xlabel="feature" if self.positions is None else "", ylabel="component")
        if len(self.components) <= 10:
            one.legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5), fontsize="small")
        return np.array([[one]], dtype=object)


@fill_function
def plot_components(
    components: ArrayLike, image_shape: tuple[int, int], *, columns: int | None = None, title: str = ""
) -> Any:
    """Draw each component as an image: white is zero, red positive, blue negative (black where none is).

    Parameters
    ----------
    image_shape : (int, int)
        Height and width of an atom.
    columns : int, optional
        Images in a row; ten at most by default.

    Returns
    -------
    matplotlib Figure
        One panel per component.

    Examples
    --------
    >>> import numpy as np
    >>> from altmin.plots import plot_components
    >>> len(plot_components(np.eye(4), (2, 2)).axes)
    4
    """
    return ComponentsDisplay(components, image_shape=image_shape).plot(columns=columns, title=title).figure_


def _plain(name: Any) -> str:
    """A name that matplotlib doesn't take for mathematics."""
    return str(name).replace("$", r"\$")
