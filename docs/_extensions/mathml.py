"""Formulas as MathML, which browsers lay out themselves: no script, no font and no other host has a part in it."""

from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.writers.html5 import HTML5Translator

log = logging.getLogger(__name__)


def _rendered(node: nodes.Element, *, block: bool) -> str:
    text = node.astext()
    try:
        return tex2mathml(text, as_block=block)
    except MathError as error:
        log.warning("%s in the formula %s", error, text, location=node)
        return ""


def _inline(writer: HTML5Translator, node: nodes.math) -> None:
    writer.body.append(_rendered(node, block=False))
    raise nodes.SkipNode


def _block(writer: HTML5Translator, node: nodes.math_block) -> None:
    writer.body.append(f'<div class="math" tabindex="0">{_rendered(node, block=True)}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    """Offer the renderer `mathml`."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
