"""Pictures (matplotlib, the extra ``altmin[plot]``, imported when one is drawn).

Each comes as a plain function and, for those who want to keep or restyle it, as a Display class in
scikit-learn's manner: ``from_estimator`` computes and draws, ``plot`` draws again.
"""

from altmin.plots.codes import CodesDisplay, plot_codes
from altmin.plots.components import ComponentsDisplay, plot_components
from altmin.plots.convergence import ConvergenceDisplay, plot_convergence
from altmin.plots.dictionary import DictionaryDisplay, plot_dictionary
from altmin.plots.guarantee import GuaranteeDisplay, plot_guarantee
from altmin.plots.mixtures import plot_mixtures
from altmin.plots.outliers import OutliersDisplay, plot_outliers
from altmin.plots.selection import plot_selection
from altmin.plots.signatures import plot_exposures, plot_matches, plot_number, plot_signatures
from altmin.plots.stability import StabilityDisplay, plot_stability
from altmin.plots.topics import plot_topics
from altmin.plots.unmixing import plot_unmixing

__all__ = [
    "CodesDisplay",
    "ComponentsDisplay",
    "ConvergenceDisplay",
    "DictionaryDisplay",
    "GuaranteeDisplay",
    "OutliersDisplay",
    "StabilityDisplay",
    "plot_codes",
    "plot_components",
    "plot_convergence",
    "plot_dictionary",
    "plot_exposures",
    "plot_guarantee",
    "plot_matches",
    "plot_mixtures",
    "plot_number",
    "plot_outliers",
    "plot_selection",
    "plot_signatures",
    "plot_stability",
    "plot_topics",
    "plot_unmixing",
]
