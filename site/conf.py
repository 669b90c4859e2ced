"""The site: pages of docs and of the root, and the reference of the Python package. `site/build` calls Sphinx."""

import importlib.util
import posixpath
from pathlib import Path

import fiedler
import fiedler.sklearn  # before torch is a mock, which SciPy would ask for its tensors
from docutils import nodes
from sphinx import addnodes
from sphinx.transforms import SphinxTransform

ROOT = Path(__file__).resolve().parents[1]
REPOSITORY = "https://github.com/fiedler-rs/fiedler"

project = "fiedler"
version = release = fiedler.__version__
copyright = "the fiedler developers"  # noqa: A001
extensions = ["sphinx.ext.autodoc", "numpydoc", "myst_parser"]
smartquotes = False  # `--` and quotes stay as a code host shows them
html_theme = "pydata_sphinx_theme"
html_title = "fiedler"
html_favicon = str(ROOT / "web/site/icon.svg")
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = html_show_sourcelink = html_use_index = html_domain_indices = False
html_sidebars = {"index": [], "guides": [], "how-it-works": [], "project": []}
html_context = {"default_mode": "auto"}
html_theme_options = {
    "github_url": REPOSITORY,
    "logo": {"text": "fiedler"},
    # Without a switch between light and dark: the figures follow the system, so the pages do as well.
    "navbar_end": ["navbar-icon-links"],
    "secondary_sidebar_items": {"**": ["page-toc"], "index": []},
    "show_prev_next": False,
    "footer_start": ["copyright"],
    "footer_end": [],
}

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4

default_role = "py:obj"
autodoc_typehints = "none"  # signatures would repeat what the parameters' sections say
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
# Its classes are documented where it is not installed, too.
autodoc_mock_imports = [] if importlib.util.find_spec("torch") else ["torch"]


class Elsewhere(SphinxTransform):
    """Relative links to files that are no pages lead to the repository. Those to nothing are left to MyST's warning."""

    default_priority = 5

    def apply(self):
        folder = posixpath.dirname(self.env.docname)
        for node in list(self.document.findall(nodes.Element)):
            if not isinstance(node, (addnodes.download_reference, addnodes.pending_xref)):
                continue
            if node.get("reftype") != "myst" or node.get("refdomain") == "doc":
                continue
            path, _, anchor = node["reftarget"].partition("#")
            path = posixpath.normpath(posixpath.join(folder, path)) if path else ""
            if not path or path.startswith("..") or not (ROOT / path).exists():
                continue
            kind = "tree" if (ROOT / path).is_dir() else "blob"
            uri = f"{REPOSITORY}/{kind}/main/{path}" + (f"#{anchor}" if anchor else "")
            node.replace_self(nodes.reference("", "", *node.children, refuri=uri, internal=False))


def setup(app):
    app.add_transform(Elsewhere)
