"""How the documentation is built: `make docs`. No network is asked for anything."""

import inspect
import re
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import altmin  # noqa: E402

project = "altmin"
author = "the altmin developers"
copyright = "the altmin developers"
version = release = altmin.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "matplotlib.sphinxext.plot_directive",
    "numpydoc",
    "myst_parser",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "sphinxcontrib.bibtex",
]
exclude_patterns = ["_build", "**/README.md"]
templates_path = ["_templates"]
root_doc = "index"
nitpicky = True  # a reference that leads nowhere is a warning, and warnings are errors

# --- text ---------------------------------------------------------------------------------------------
myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence", "deflist", "attrs_inline"]
myst_heading_anchors = 3
bibtex_bibfiles = ["references.bib"]
bibtex_default_style = "plain"
bibtex_reference_style = "author_year"

# --- API ----------------------------------------------------------------------------------------------
autosummary_generate = True
autodoc_typehints = "none"  # the docstrings say it in words
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

# --- pictures -----------------------------------------------------------------------------------------
plot_html_show_source_link = False
plot_html_show_formats = False
plot_formats = [("svg", 90)]
plot_rcparams = {"svg.fonttype": "path", "figure.facecolor": "none"}
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "subsection_order": [
        f"../examples/{folder}"
        for folder in ("recover", "stream", "robust", "diagnose", "compare", "scale", "extend")
    ],
    "within_subsection_order": "FileNameSortKey",
    "filename_pattern": r"/plot_",
    "abort_on_example_error": True,
    "plot_gallery": True,
    "reference_url": {"altmin": None},
    "doc_module": ("altmin",),
    "backreferences_dir": "api/backreferences",
    "inspect_global_variables": False,
    "image_scrapers": ("matplotlib",),
    "reset_modules": ("gallery_look.reset",),
    "remove_config_comments": True,
    "min_reported_time": 0,
    "show_memory": False,
    "show_signature": False,
    "download_all_examples": False,
    "write_computation_times": False,
    "nested_sections": False,
}

# --- look ---------------------------------------------------------------------------------------------
html_theme = "pydata_sphinx_theme"
html_title = "altmin"
html_static_path = ["_static"]
html_css_files = ["altmin.css"]
html_show_sourcelink = False
html_theme_options = {
    "show_nav_level": 1,
    "navigation_with_keys": False,
    "header_links_before_dropdown": 7,
    "show_prev_next": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "navbar_align": "left",
}
html_sidebars = {name: [] for name in ("index", "start", "which", "benchmarks", "changelog", "references")}
html_context = {"default_mode": "auto"}  # light or dark as the reader's system is
# `make docs` copies MathJax from npm into _static, so that pages need no other host.
mathjax_path = "mathjax/tex-chtml-full.js"
mathjax3_config = {"chtml": {"mtextInheritFont": True}}


def skip_inherited(app: Any, what: str, name: str, member: Any, skip: bool, options: Any) -> bool | None:
    """Leave out what scikit-learn adds to every estimator (get_params, metadata routing, ...)."""
    function = getattr(member, "fget", member)
    if inspect.isfunction(function) and not (function.__module__ or "").startswith("altmin"):
        return True
    return None


def list_measured(app: Any, docname: str, source: list[str]) -> None:
    """Put the pages of measurements that are there into the guide."""
    if docname == "guide":
        patterns = ("faults.md", "mutation.md", "scale*.md", "calibration*.md", "calibration/*.md")
        pages = [path for pattern in patterns for path in sorted(HERE.glob(pattern))]
        names = (path.relative_to(HERE).with_suffix("").as_posix() for path in pages)
        source[0] = source[0].replace("{{ measured }}", "\n".join(names))


def fold_long_tables(app: Any, docname: str, source: list[str]) -> None:
    """On the page of benchmarks: a picture first, and long tables behind a click."""
    if docname != "benchmarks":
        return
    plot = ".. plot:: images/benchmarks.py\n   :alt: How many times as fast as the best peer altmin is"
    said = "How soon altmin reaches the error at which the best peer (in brackets) ends."
    picture = f"## In one picture\n\n{said}\n\n```{{eval-rst}}\n{plot}\n```\n\n## In one table\n"
    text = source[0].replace("## In one table\n", picture, 1)
    source[0] = re.sub(r"(?:^\|.*\n){9,}", _folded, text, flags=re.MULTILINE)


def _folded(table: re.Match[str]) -> str:
    return f":::{{dropdown}} The table ({table[0].count(chr(10)) - 2} lines)\n{table[0]}:::\n"


def quieten(app: Any, error: Exception | None) -> None:
    """The theme's script writes to the console of every reader; the copy in our pages doesn't."""
    script = Path(app.outdir) / "_static" / "scripts" / "pydata-sphinx-theme.js"
    if error is None and script.exists():
        text = script.read_text(encoding="utf-8")
        script.write_text(text.replace("console.log(", "void("), encoding="utf-8")


def setup(app: Any) -> None:
    """Hooks."""
    app.connect("source-read", fold_long_tables)
    app.connect("build-finished", quieten)
    app.connect("source-read", list_measured)
    app.connect("autodoc-skip-member", skip_inherited)
