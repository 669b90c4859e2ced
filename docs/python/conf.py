"""The reference of the Python package: `sphinx-build -W docs/python OUT`, with the package installed."""

import importlib.util

import fiedler
import fiedler.sklearn  # before torch is a mock, which SciPy would ask for its tensors

project = "fiedler"
version = release = fiedler.__version__
copyright = "the fiedler developers"  # noqa: A001
extensions = ["sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.intersphinx", "numpydoc"]
html_theme = "pydata_sphinx_theme"
html_theme_options = {"show_prev_next": False}
exclude_patterns = ["_build"]
default_role = "py:obj"
autodoc_typehints = "none"  # signatures would repeat what the parameters' sections say
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
# Its classes are documented where it is not installed, too.
autodoc_mock_imports = [] if importlib.util.find_spec("torch") else ["torch"]
# Looked up only where a network is, and never needed to build.
intersphinx_mapping = {}
nitpicky = False
