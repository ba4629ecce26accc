"""Sphinx configuration; neither the build nor its pages read from the network."""

import os
import sys
from importlib.resources import files
from pathlib import Path

import skprob

docs = Path(__file__).parent
sys.path[:0] = [str(docs / folder) for folder in ("code", "downloads", "extensions")]

from guide_links import pages_by_object  # noqa: E402

project = "skprob"
author = "the skprob developers"
copyright = f"2026, {author}"
version = release = skprob.__version__

extensions = [
    "attribute_comments",
    "cached_template",
    "protocol_signature",
    "comparison",
    "fit_times",
    "mapping_table",
    "measured",
    "method_summary",
    "matplotlib.sphinxext.plot_directive",
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.extlinks",
    "sphinx.ext.mathjax",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "auto_examples/*.ipynb", "paper"]
templates_path = ["_templates"]
default_role = "literal"

html_theme = "pydata_sphinx_theme"
html_title = f"skprob {release}"
html_show_sourcelink = False
html_theme_options = {"show_prev_next": True, "navigation_with_keys": False}
# The site of all versions (`make site`) has a menu of them. Its address begins with the
# folder of the site, since pages at every depth read it.
if site_version := os.environ.get("SKPROB_SITE_VERSION"):
    html_theme_options |= {
        "switcher": {
            "json_url": f"{os.environ.get('SITE', '').rstrip('/')}/switcher.json",
            "version_match": site_version,
        },
        "check_switcher": False,
        "navbar_end": ["version-switcher", "theme-switcher", "navbar-icon-links"],
        "show_version_warning_banner": True,
    }
html_css_files = ["skprob.css"]
html_js_files = ["tables.js"]

# MathJax is one file that draws formulas as SVG, copied from a package: pages need
# neither a network nor fonts.
mathjax_file = files("sphinx-mathjax-offline") / "static" / "mathjax" / "tex-svg.js"
html_static_path = ["_static", str(mathjax_file)]
mathjax_path = mathjax_file.name

# What other projects document is linked by hand: their inventories would have to be
# downloaded.
extlinks = {
    "sklearn": ("https://scikit-learn.org/stable/modules/generated/%s.html", "%s")
}
nitpick_ignore_regex = [
    (
        r"py:.*",
        r"(collections|joblib|matplotlib|np|numpy|scipy|sklearn|sparse|typing)\b.*",
    )
]

# Classes that are no public objects.
nitpick_ignore = [("py:class", "PathSolution")]

autosummary_generate = True
# Docstrings say the types, in words.
autodoc_typehints = "none"
autosummary_ignore_module_all = False
autosummary_context = {"guide": pages_by_object(docs / "user_guide")}
numpydoc_show_class_members = False
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "backreferences_dir": "generated/backreferences",
    "doc_module": ("skprob",),
    "filename_pattern": r"\.py$",
    # The groups of the examples, in the order of the page.
    "copyfile_regex": r"index\.rst",
    "thumbnail_size": (480, 336),
    "min_reported_time": 0,
    # Side by side, in as many processes as read and write the pages (-j).
    "parallel": True,
    "remove_config_comments": True,
    "show_signature": False,
    "write_computation_times": False,
}

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
