"""The one definition of an article's plain text, so that offsets into articles are true."""

from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass(frozen=True)
class ArticleText:
    """`starts[i]` is where paragraph i begins in `text`, `heading_starts` where headings do.

    All in code points; `text[starts[i]:][:len(paragraph)]` is paragraph i.
    """

    text: str
    starts: list[int] = field(default_factory=list)
    heading_starts: dict[int, int] = field(default_factory=dict)


def join_article(headings: dict[int, str], paragraphs: Iterable[tuple[int, str]]) -> ArticleText:
    """Return the plain text: the lead's paragraphs, then each section's heading and paragraphs.

    `headings`: section position → heading, the lead's blank; `paragraphs`: (section position,
    text) in order. Lines are joined by one newline, a blank heading is no line.
    """
    lines: list[str] = []
    starts: list[int] = []
    heading_starts: dict[int, int] = {}
    length = 0
    waiting = sorted(headings)
    for section, text in [*paragraphs, (None, "")]:
        while waiting and (section is None or waiting[0] <= section):
            position = waiting.pop(0)
            if heading := headings[position]:
                heading_starts[position] = length
                lines.append(heading)
                length += len(heading) + 1
        if section is not None:
            starts.append(length)
            lines.append(text)
            length += len(text) + 1
    return ArticleText("\n".join(lines), starts, heading_starts)
