"""How figures of the gallery look: set before each example."""

from typing import Any

import matplotlib.pyplot as plt

STYLE = {
    "figure.figsize": (8, 4.5),  # a slide
    "figure.dpi": 100,
    "savefig.dpi": 130,
    "figure.constrained_layout.use": True,
    "font.size": 11,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 13,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.grid": True,
    "grid.alpha": 0.25,
    "lines.linewidth": 2,
    "legend.frameon": False,
    "image.cmap": "gray",
}


def reset(gallery_conf: Any, name: Any) -> None:
    """Called by sphinx-gallery before every example."""
    plt.rcParams.update(STYLE)
