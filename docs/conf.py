"""Sphinx configuration; the build reads nothing from the network."""

import sys
from pathlib import Path

import skprob

here = Path(__file__).parent
sys.path[:0] = [str(here / "code"), str(here / "extensions")]

project = "skprob"
author = "the skprob developers"
copyright = f"2026, {author}"
version = release = skprob.__version__

extensions = [
    "comparison",
    "example_scripts",
    "mapping_table",
    "matplotlib.sphinxext.plot_directive",
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.extlinks",
    "sphinx.ext.mathjax",
    "sphinx_copybutton",
]
exclude_patterns = ["_build"]
templates_path = ["_templates"]
default_role = "literal"

html_theme = "pydata_sphinx_theme"
html_title = f"skprob {release}"
html_show_sourcelink = False
html_theme_options = {"show_prev_next": True, "navigation_with_keys": False}

# What other projects document is linked by hand: their inventories would have to be
# downloaded.
extlinks = {
    "sklearn": ("https://scikit-learn.org/stable/modules/generated/%s.html", "%s")
}
nitpick_ignore_regex = [
    (r"py:.*", r"(collections|joblib|matplotlib|numpy|scipy|sklearn|typing)\b.*")
]

autosummary_generate = True
autosummary_ignore_module_all = False
numpydoc_show_class_members = False
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

plot_formats = [("png", 150)]
plot_html_show_formats = False
plot_html_show_source_link = False
plot_include_source = False
plot_rcparams = {
    "figure.constrained_layout.use": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "legend.frameon": False,
}
plot_apply_rcparams = True


def skip_inherited(app, what, name, obj, skip, options):
    """Leave out what every scikit-learn estimator has; its own pages describe it."""
    inherited = (getattr(obj, "__module__", None) or "").startswith("sklearn.")
    setter = name.startswith("set_") and name.endswith("_request")
    return skip or inherited or setter


def setup(app):
    app.connect("autodoc-skip-member", skip_inherited)
