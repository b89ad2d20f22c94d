"""Without matplotlib, pictures say how to get it."""

import sys

import pytest

from altmin.plots import plot_dictionary, plot_topics


@pytest.mark.parametrize(
    "draw", [lambda: plot_topics([[0.1, 0.9]], ["cat", "sun"]), lambda: plot_dictionary([[1.0, 0, 0, 0]])]
)
def test_the_extra_is_named(draw, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'altmin\[plot\]'"):
        draw()
