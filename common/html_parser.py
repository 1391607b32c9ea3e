"""Python's own parser of HTML, which no page can end."""

import html.parser


class HTMLParser(html.parser.HTMLParser):
    """Takes marked sections that HTML does not know, such as `<![x`, for comments, as browsers do.

    Python's raises AssertionError at them.
    """

    def parse_marked_section(self, i: int, report: int = 1) -> int:
        """Return where the section that begins at `i` ends, -1 where it does not."""
        return self.parse_bogus_comment(i)
