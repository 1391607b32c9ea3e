"""Draws Markdown as HTML, in which nobody's HTML of their own is run."""

from markdown_it import MarkdownIt

_reader = MarkdownIt("commonmark", {"html": False}).enable("table")


def html_of(text: str, *, lowered: int = 0) -> str:
    """Return Markdown as HTML, without its comments; raw HTML in it is shown as text.

    lowered: by how many levels its headings are drawn lower than written, down to the sixth.
    """
    tokens = _reader.parse(_without_comments(text))
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, int(token.tag[1]) + lowered)}"
        # Our pages allow no styles in their elements; a class says which columns are of numbers.
        if token.attrs.pop("style", "") == "text-align:right":
            token.attrSet("class", "n")
    return str(_reader.renderer.render(tokens, _reader.options, {}))


def _without_comments(text: str) -> str:
    before, opened, rest = text.partition("<!--")
    return before + _without_comments(rest.partition("-->")[2]) if opened else before
