"""How Sphinx builds the guide: `make docs`. Every warning is an error there, a broken link or anchor among them."""

import sys
from importlib.metadata import version as version_of
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "_extensions"), str(HERE.parent), str(HERE.parent / "client" / "src")]

project = "Snapledger"
version = release = version_of("snapledger")
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "client_reference",
    "flow",
    "mathml",
    "openapi",
]
nitpicky = True  # a name that leads nowhere is an error too
nitpick_ignore_regex = [
    ("py:.*", r"(collections|datetime|decimal|httpx|pandas|pd|pydantic|typing)\..*|IO|T|Unpack|.*\.(Scalar|Frame)"),
    ("py:class", r"snapledger_client\.(calls\.(Call|Page)|.*\.listing\.T)"),  # what a list is made of is private
]

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4
myst_dmath_allow_space = False
myst_dmath_allow_digits = False

autodoc_default_options = {"members": True, "undoc-members": True, "exclude-members": "model_config, slug"}
autodoc_typehints = "signature"
autodoc_member_order = "bysource"
autodoc_use_type_comments = False
default_role = "literal"  # docstrings write `name` as Markdown does
python_use_unqualified_type_names = True
add_module_names = False

exclude_patterns = ["_*", "screenshots/*"]
templates_path = ["_templates"]
html_theme = "furo"
html_title = "Snapledger's guide"
html_static_path = ["_static"]
html_css_files = ["guide.css"]
html_js_files = [("accessible.js", {"defer": "defer"})]
html_favicon = "../app/web/icon.svg"
html_math_renderer = "mathml"
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
html_use_index = False
html_domain_indices = False
html_last_updated_fmt = None
pygments_style = "default"
pygments_dark_style = "github-dark"
