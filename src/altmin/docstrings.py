"""Texts that many docstrings share, written once.

A docstring describes what is special about its class or function. Parameters of the signature that it does
not mention, fitted attributes that every estimator has, and what ``fit`` returns are filled in from the
tables here when the class is made, so that ``help``, notebooks and the reference show complete pages.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

Entry = tuple[str, str]  # the type and the text of a parameter, attribute or returned value
T = TypeVar("T", bound=Callable[..., Any])
C = TypeVar("C", bound=type)

PARAMETERS: dict[str, Entry] = {
    "X": (
        "array-like, sparse, path or list of blocks, of shape (n_samples, n_features)",
        "The samples, one per row.",
    ),
    "y": ("None", "Ignored."),
    "sample_weight": ("array-like of shape (n_samples,) or None", "How often each sample counts."),
    "n_components": ("int or None", "Number of atoms, at most n_features; None means n_features."),
    "transform_algorithm": (
        "{'threshold', 'omp', 'ormp'}",
        "How ``transform`` computes codes: thresholded products with the inverse, or a matching pursuit.",
    ),
    "transform_n_nonzero_coefs": (
        "int or None",
        "Nonzero codes per sample. None leaves it to the threshold (pursuits: a tenth of the features).",
    ),
    "max_iter": ("int", "Largest number of iterations."),
    "tol": ("float", "The fit stops when the relative change of an iteration stays below this."),
    "random_state": ("int, RandomState or None", "Seed of everything that is random."),
    "verbose": ("int", "Whether to show a line of progress."),
    "checkpoint": (
        "path-like or None",
        "Folder in which ``fit`` saves its state, and from which an interrupted fit continues.",
    ),
    "n_jobs": (
        "int or None",
        "Number of threads; the result does not depend on it. None means as many as BLAS may use.",
    ),
    "ax": ("matplotlib Axes, optional", "Where to draw; a new figure by default."),
    "title": ("str", "Title of the figure."),
    "**options": ("dict", "Further options of :meth:`plot`."),
    "components": ("array-like of shape (n_components, n_features)", "The components, one per row."),
    "codes": (
        "array-like or sparse of shape (n_samples, n_components)",
        "Codes, as ``transform`` gives them.",
    ),
    "estimator": ("fitted estimator", "The model to draw."),
}

ATTRIBUTES: dict[str, Entry] = {
    "component_scales_": (
        "ndarray of shape (n_components,)",
        "Root mean square of the nonzero codes of each atom.",
    ),
    "intercept_": (
        "ndarray of shape (n_features,)",
        "A constant row that all samples contain; zeros where there is none.",
    ),
    "thresholds_": (
        "ndarray of shape (n_components,)",
        "Final thresholds of the codes of unit atoms, in units of the data.",
    ),
    "noise_std_": ("float", "Estimated standard deviation of the noise in one feature."),
    "reconstruction_err_": ("float", "Frobenius norm of what the codes leave unexplained."),
    "n_iter_": ("int", "Number of iterations taken."),
    "history_": ("list of dict", "Measurements of the fit, one row per iteration."),
    "outcome_": ("Outcome", "How the fit ended, and what to try."),
    "guarantee_": (
        "GuaranteeReport",
        "Whether the true model was found, and why; :meth:`guarantee` spends more on the answer. After a fit "
        "to up to 4 MiB it is made when it is first read, of a copy of the rows that is let go then.",
    ),
}

RETURNS: dict[str, Entry] = {
    "fit": ("self", "The fitted estimator."),
    "partial_fit": ("self", "The estimator after these rows."),
    "transform": ("ndarray of shape (n_samples, n_components)", "The codes."),
    "inverse_transform": ("ndarray of shape (n_samples, n_features)", "``X @ components_``."),
    "predict": ("ndarray of shape (n_samples,)", "The predictions; for a stream, a generator of arrays."),
    "plot": ("self", "The display, drawn."),
    "from_estimator": ("display", "The display, drawn."),
}


def fill_class(cls: C, attributes: Iterable[str] = ()) -> C:
    """The class (use it as a decorator), its docstring and those of its own public methods completed.

    Parameters
    ----------
    cls : type
        The class; its docstring also describes the constructor's parameters.
    attributes : iterable of str
        Names of the table of attributes that are added where the docstring does not describe them.

    Returns
    -------
    type
        The class.
    """
    if not cls.__doc__:  # python -OO
        return cls
    text = _with_entries(_with_parameters(cls.__doc__, cls), "Attributes", attributes, ATTRIBUTES)
    cls.__doc__ = text + "\n"
    for name, member in vars(cls).items():
        function = getattr(member, "__func__", member)
        if inspect.isfunction(function) and not name.startswith("_"):
            fill_function(function)
    return cls


def fill_function(function: T) -> T:
    """The function (use it as a decorator), with its docstring completed."""
    if function.__doc__:
        text = _with_parameters(function.__doc__, function)
        name = function.__name__
        if name in RETURNS and "\nReturns\n" not in text:
            kind, meaning = RETURNS[name]
            text = _with_section(text, "Returns", f"{kind}\n    {meaning}")
        function.__doc__ = text + "\n" if "\n" in text else text
    return function


def _with_parameters(doc: str, target: Callable[..., Any]) -> str:
    signature = inspect.signature(target).parameters.values()
    names = [str(one.replace(annotation=one.empty, default=one.empty)) for one in signature]
    names = [name for name in names if name not in ("self", "cls")]
    return _with_entries(inspect.cleandoc(doc), "Parameters", names, PARAMETERS, ordered=True)


def _with_entries(
    text: str, title: str, names: Iterable[str], known: dict[str, Entry], ordered: bool = False
) -> str:
    """The text with a section that describes the names; in their order, or those missing at its end."""
    head = re.search(rf"^{title}\n-+\n", text, re.MULTILINE)
    body, described = "", {}
    if head is not None:
        rest = text[head.end() :]
        end = re.search(r"^\S[^\n]*\n-{3,}$", rest, re.MULTILINE)  # where the next section begins
        body = rest[: end.start() if end else len(rest)]
        text = text[: head.start()] + rest[len(body) :]
        for entry in re.split(r"\n(?=\S)", body.strip()):
            for name in entry.split("\n")[0].split(" : ")[0].split(","):
                described[name.strip()] = entry
    entries = {
        name: described.get(name) or f"{name} : {known[name][0]}\n    {known[name][1]}"
        for name in names
        if name in described or name in known
    }
    merged = {**entries, **described} if ordered else {**described, **entries}
    unique = list(dict.fromkeys(merged.values()))  # a line such as "i, j : int" describes several names
    if not unique:
        return text
    if head is not None:
        return f"{text[: head.start()]}{head[0]}" + "\n".join(unique) + f"\n\n{text[head.start() :]}".rstrip()
    return _with_section(text, title, "\n".join(unique))


def _with_section(text: str, title: str, body: str) -> str:
    """The text with one more section, after those that numpydoc wants before it."""
    order = ["Parameters", "Attributes", "Returns", "Raises", "Notes", "References", "Examples"]
    later = "|".join(order[order.index(title) + 1 :])
    place = re.search(rf"^(?:{later})\n-{{3,}}$", text, re.MULTILINE)
    at = place.start() if place else len(text)
    section = f"{title}\n{'-' * len(title)}\n{body}"
    return "\n\n".join(part for part in (text[:at].rstrip(), section, text[at:]) if part)
