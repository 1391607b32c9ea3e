"""Markdown drawn as HTML in which no HTML of its writer runs, and a parser that no page can end."""

import html.parser

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


class HTMLParser(html.parser.HTMLParser):
    """Takes marked sections that HTML does not know, such as `<![x`, for comments, as browsers do.

    Python's raises AssertionError at them.
    """

    def parse_marked_section(self, i: int, report: int = 1) -> int:
        """Return where the section that begins at `i` ends, -1 where it does not."""
        return self.parse_bogus_comment(i)
