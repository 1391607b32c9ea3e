"""Cleans the formatted text of a test: known elements stay, everything else is plain text."""

from html import escape
from html.parser import HTMLParser

KEPT = set(
    "a b big blockquote br cite code dd del dl dt em h1 h2 h3 h4 h5 h6 hr i ins li ol p pre q s "
    "small span strong sub sup table tbody td tfoot th thead tr u ul".split()
)
EMPTY = {"br", "hr"}
# What is in these is no text.
DROPPED = {"script", "style", "iframe", "object", "title"}


class _Cleaner(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.written: list[str] = []
        self.open: list[str] = []
        self.n_dropped = 0

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag in DROPPED:
            self.n_dropped += 1
        elif tag in KEPT and not self.n_dropped:
            address = dict(attributes).get("href") or ""
            is_link = tag == "a" and address.startswith("https://")
            self.written.append(
                f'<a href="{escape(address)}" target="_blank" rel="noopener noreferrer">'
                if is_link
                else f"<{tag}>"
            )
            if tag not in EMPTY:
                self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in DROPPED:
            self.n_dropped = max(0, self.n_dropped - 1)
        elif tag in self.open and not self.n_dropped:
            while self.open:
                closed = self.open.pop()
                self.written.append(f"</{closed}>")
                if closed == tag:
                    break

    def handle_data(self, data: str) -> None:
        if not self.n_dropped:
            self.written.append(escape(data))


def clean_html(html: str) -> str:
    """Return HTML of harmless elements alone, well nested, links only to https:// addresses."""
    cleaner = _Cleaner()
    cleaner.feed(html)
    cleaner.close()
    return "".join([*cleaner.written, *(f"</{tag}>" for tag in reversed(cleaner.open))])
