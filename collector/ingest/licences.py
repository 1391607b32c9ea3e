"""Under which licence a wiki's text may be used."""

from datetime import datetime
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from collector.ingest.errors import DumpError

if TYPE_CHECKING:
    from collector.models import Corpus

# Wikipedia, Wiktionary and their sisters moved from version 3.0 to 4.0 on this day.
MOVED_TO_4_0 = "2023-06-29"
UNKNOWN = "unknown"
# The text may be read by those who work on it and must not be published: releases are without it.
CLOSED = "closed"
# Of a corpus whose documents have not all the same: each names its own.
SEVERAL = "several, named with each document"

# The most characters of a licence's name that a corpus holds.
LONGEST = 100
ADDRESSES = {
    "CC BY-SA 4.0": "https://creativecommons.org/licenses/by-sa/4.0/",
    "CC BY-SA 3.0": "https://creativecommons.org/licenses/by-sa/3.0/",
    "CC BY 4.0": "https://creativecommons.org/licenses/by/4.0/",
    "CC0 1.0": "https://creativecommons.org/publicdomain/zero/1.0/",
    "GFDL 1.3": "https://www.gnu.org/licenses/fdl-1.3.html",
}
_WIKIMEDIA = (
    "wikipedia.org",
    "wiktionary.org",
    "wikibooks.org",
    "wikisource.org",
    "wikiquote.org",
    "wikiversity.org",
    "wikivoyage.org",
)


def licence_address(name: str) -> str:
    """Return the address of the licence called `name`, blank for `unknown` and `closed`.

    Raises DumpError for a name that is not in ADDRESSES.
    """
    if name in (UNKNOWN, CLOSED):
        return ""
    try:
        return ADDRESSES[name]
    except KeyError:
        known = ", ".join([*ADDRESSES, CLOSED])
        raise DumpError(
            f"{name!r} is no licence we know ({known}); add --licence-url with its address."
        ) from None


def named(licence: str) -> str:
    """Return a licence's name, blank where it is not known."""
    return "" if licence == UNKNOWN else licence


def contradictions(corpus: "Corpus") -> list[str]:
    """Return the licences that documents name in place of the one said for all of them, sorted."""
    if corpus.licence_name in ("", UNKNOWN, SEVERAL):
        return []
    names = set(corpus.documents.exclude(licence="").values_list("licence", flat=True))
    said = corpus.licence_name.casefold()
    # Of a long name the corpus holds the beginning.
    return sorted(name for name in names if name[:LONGEST].casefold() != said)


def licence_cautions(corpus: "Corpus") -> list[str]:
    """Return a sentence where documents contradict the licence of their corpus."""
    others = contradictions(corpus)
    if not others:
        return []
    said = f"The licence of the corpus is {corpus.licence_name}, but documents in it name"
    if CLOSED in map(str.casefold, (corpus.licence_name, *others)):
        return [f"{said} {', '.join(others)}. A release will hold no word of any document."]
    return [
        f"{said} {', '.join(others)}. A release names them all. Make sure that you may publish "
        "each text."
    ]


def default_licence(base_url: str, newest: datetime | None) -> str:
    """Return the licence of a dump of the wiki at `base_url` whose newest revision is `newest`."""
    host = urlsplit(base_url).hostname or ""
    if not any(host == site or host.endswith(f".{site}") for site in _WIKIMEDIA):
        return UNKNOWN
    moved = newest is None or newest.date().isoformat() >= MOVED_TO_4_0
    return "CC BY-SA 4.0" if moved else "CC BY-SA 3.0"
