"""Patches of images as rows, cut when they are read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from altmin.contract import Block, Info
from altmin.engine import Source
from altmin.engine.plan import allowed_threads, block_rows
from altmin.engine.reduce import map_in_order
from altmin.engine.side_by_side import other_threads
from altmin.engine.sources import Table
from altmin.engine.threads import one_thread
from altmin.images.frame import check_image
from altmin.kernels.patches import gather, scatter_add

Estimate = Callable[[NDArray[Any], slice], tuple[NDArray[Any], NDArray[Any]]]


@dataclass(frozen=True)
class _Grid:
    """One image (H, W, C) and the upper left corners of its patches."""

    image: NDArray[Any]
    tops: NDArray[np.intp]
    lefts: NDArray[np.intp]

    @property
    def size(self) -> int:
        return len(self.tops) * len(self.lefts)

    def corners(self, ids: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        line, place = np.divmod(ids, len(self.lefts))
        return self.tops[line], self.lefts[place]


class Patches(Source):
    """Tiles or overlapping patches of images, one a row, cut when they are read.

    Any estimator of altmin takes it in place of X: a 4000 x 4000 image has 16 million overlapping patches,
    and none of them is in memory before its block is read.

    Parameters
    ----------
    images : array-like of shape (H, W) or (H, W, channels), or list of those
        Grey or colour images, all with as many channels; in their own units.
    size : int or (int, int)
        Height and width of a patch.
    step : int or 'tile'
        Distance of neighbouring patches; 'tile' puts them side by side. The last patch of a line always
        ends at the border.
    center : bool
        Whether to take out the mean of each patch (of each of its channels).

    Notes
    -----
    **Cost.** A block of patches is cut when it is read; nothing else is kept but the images.

    Examples
    --------
    >>> import numpy as np
    >>> from altmin.images import Patches
    >>> image = np.arange(12.0).reshape(3, 4)
    >>> Patches(image, 2, step="tile").read(0, 2).X
    array([[0., 1., 4., 5.],
           [2., 3., 6., 7.]])
    """

    def __init__(
        self,
        images: Any,
        size: int | tuple[int, int] = 8,
        *,
        step: int | Literal["tile"] = 1,
        center: bool = False,
    ) -> None:
        frames = [check_image(image) for image in (images if isinstance(images, list | tuple) else [images])]
        if not frames:
            raise ValueError("images is an empty list")
        self.height, self.width = (size, size) if isinstance(size, int) else size
        self.center = center
        self.dtype = np.dtype(np.float32 if all(f.dtype == np.float32 for f in frames) else np.float64)
        self.grids = [self._grid(frame, step) for frame in frames]
        channels = {grid.image.shape[2] for grid in self.grids}
        if len(channels) > 1:
            raise ValueError(f"images have {sorted(channels)} channels: all must have as many")
        self.channels = channels.pop()
        self.bounds = np.concatenate([[0], np.cumsum([grid.size for grid in self.grids])])

    @property
    def info(self) -> Info:
        """Rows and columns."""
        n_features = self.height * self.width * self.channels
        return Info(n_features=n_features, dtype=self.dtype, n_rows=self.n_rows)

    @property
    def on_disk(self) -> bool:
        """Patches are cut out of images in memory."""
        return False

    @property
    def shape(self) -> tuple[int, int]:
        """(number of patches, pixels of a patch)."""
        return self.n_rows, self.info.n_features

    def read(self, start: int, stop: int) -> Table:
        """Patches start to stop."""
        return self.take(np.arange(start, stop))

    def take(self, ids: NDArray[np.intp]) -> Table:
        """The patches with these numbers."""
        return Table(self.gather(ids)[0])

    def gather(self, ids: NDArray[np.intp]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Patches with these (sorted) numbers, and their means (zero where not centred)."""
        out = np.empty((len(ids), self.info.n_features), self.dtype)
        means = np.empty((len(ids), self.channels), self.dtype)
        cuts = np.searchsorted(ids, self.bounds)
        for number, grid in enumerate(self.grids):
            rows = slice(cuts[number], cuts[number + 1])
            if rows.start < rows.stop:
                tops, lefts = grid.corners(ids[rows] - self.bounds[number])
                gather(_flat(grid.image), tops, lefts, self.width, self.center, out[rows], means[rows])
        return out, means

    def sample(self, n: int, seed: int) -> NDArray[Any]:
        """At most n patches, drawn at random without repetition."""
        if n >= self.n_rows:
            return self.take(np.arange(self.n_rows)).X
        ids = np.random.default_rng(seed).choice(self.n_rows, n, replace=False)
        return self.take(np.sort(ids)).X

    def rebuild(self, estimate: Estimate, n_jobs: int | None = None) -> NDArray[Any]:
        """Replace each patch of one image by an estimate and average where they overlap.

        Parameters
        ----------
        estimate : callable
            ``estimate(X, rows) -> (Y, weights)``: new (centred) patches of those rows, and what each
            counts in the average.
        n_jobs : int or None
            Threads (a positive number, or None); the result doesn't depend on it.

        Returns
        -------
        ndarray of shape (H, W, C)
            The image; pixels that no patch covers (steps beyond the size) are as they were.
        """
        (grid,) = self.grids
        canvas = np.zeros(grid.image.shape, self.dtype)
        total = np.zeros(grid.image.shape[:2], self.dtype)
        height, n_threads = block_rows(self.info), n_jobs or allowed_threads(n_jobs)

        def strip(block: Block) -> tuple[int, NDArray[Any], NDArray[Any]]:
            ids = np.arange(block.start, min(block.start + height, self.n_rows))
            X, means = self.gather(ids)
            Y, weights = estimate(X, slice(block.start, block.start + len(ids)))
            tops, lefts = grid.corners(ids)
            shape = (int(tops[-1] - tops[0]) + self.height, canvas.shape[1])
            part, mass = np.zeros((*shape, self.channels), self.dtype), np.zeros(shape, self.dtype)
            scatter_add(Y, means, weights, tops - tops[0], lefts, self.width, _flat(part), mass)
            return int(tops[0]), part, mass

        def blocks() -> Iterator[Block]:
            for index, start in enumerate(range(0, self.n_rows, height)):
                yield Block(index, start, None)

        with ExitStack() as stack:
            stack.enter_context(one_thread())
            pool = other_threads(n_threads, stack)
            for _, (top, part, mass) in map_in_order(strip, blocks(), pool, 2 * n_threads):
                canvas[top : top + len(part)] += part
                total[top : top + len(mass)] += mass
        mass = np.broadcast_to(total[:, :, None], canvas.shape)
        return np.divide(canvas, mass, out=grid.image.copy(), where=mass > 0)

    def _grid(self, frame: NDArray[Any], step: int | Literal["tile"]) -> _Grid:
        image = np.ascontiguousarray(frame.reshape(*frame.shape[:2], -1), dtype=self.dtype)
        sizes = (self.height, self.width)
        if not all(1 <= size <= extent for size, extent in zip(sizes, image.shape[:2], strict=True)):
            raise ValueError(f"size is {sizes}; patches must fit the image, which is {image.shape[:2]}")
        steps: Sequence[Any] = sizes if step == "tile" else (step, step)
        if not all(isinstance(s, int) and s >= 1 for s in steps):
            raise ValueError(f"step is {step!r}; an integer >= 1 or 'tile' is needed")
        tops, lefts = (
            np.unique(np.append(np.arange(0, extent - size + 1, s), extent - size))
            for extent, size, s in zip(image.shape[:2], sizes, steps, strict=True)
        )
        return _Grid(image, tops, lefts)


def _flat(image: NDArray[Any]) -> NDArray[Any]:
    """Channels of a pixel side by side: (H, W * C)."""
    return image.reshape(len(image), -1)
