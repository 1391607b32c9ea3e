"""What a dump says of its wiki: language, address, namespaces."""

import codecs
import re
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field

from collector.ingest.errors import DumpError

# ISO 639 codes of languages that Wikipedia writes from right to left.
RIGHT_TO_LEFT = re.compile(
    "ae|aeb|ajp|apc|arc?|ary|arz|azb|bcc|bgn|bqi|ckb|dv|fa|glk|he|khw|ks|lki|lrc|luz|mzn|nqo|"
    "pnb|ps|sdh?|skr|syr|ug|ur|yi"
)

# What XML in UTF-16 begins with: its mark or, without one, its first character.
UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, b"<\x00", b"\x00<")


@dataclass(frozen=True)
class Site:
    """The head of a dump; `namespaces` maps a lower-case name to its number."""

    language: str = "en"
    name: str = ""
    base_url: str = ""
    generator: str = ""
    first_letter_upper: bool = True
    namespaces: dict[str, int] = field(default_factory=dict)

    @property
    def direction(self) -> str:
        """Return `rtl` or `ltr`."""
        return direction_of(self.language)


def direction_of(language: str) -> str:
    """Return `rtl` or `ltr` for a language code such as `ar` or `zh-Hant`."""
    return "rtl" if RIGHT_TO_LEFT.fullmatch(language.lower().partition("-")[0]) else "ltr"


def read_site(head: bytes, name: str) -> Site:
    """Return what `head`, the bytes before the first page of the file `name`, says of the wiki.

    Raises DumpError if it is not the head of a MediaWiki export.
    """
    if head.startswith(UTF_16):
        raise DumpError(
            f"{name} is in UTF-16, and a wiki's dump is in UTF-8: convert it, for instance with "
            "iconv -f UTF-16 -t UTF-8, and read that file in."
        )
    opening = re.search(rb"<mediawiki\b([^>]*)>", head)
    if not opening:
        raise DumpError(
            f"{name} is not a MediaWiki XML export: it has no <mediawiki> element at its start. "
            "Give the pages-articles dump of a wiki, or what its Special:Export page saves."
        )
    language = re.search(rb'xml:lang="([^"]+)"', opening[1])
    site = Site(language=language[1].decode() if language else "en")
    info = re.search(rb"<siteinfo>.*?</siteinfo>", head, re.DOTALL)
    if not info:
        return site
    try:
        element = ElementTree.fromstring(info[0])
    except ElementTree.ParseError as error:
        raise DumpError(
            f"{name} has a damaged <siteinfo> element ({error}); download the file again."
        ) from error
    names = {
        " ".join((each.text or "").replace("_", " ").split()).lower(): int(each.get("key", "0"))
        for each in element.iter("namespace")
    }
    return Site(
        language=site.language,
        name=element.findtext("sitename", "").strip(),
        base_url=element.findtext("base", "").strip(),
        generator=element.findtext("generator", "").strip(),
        first_letter_upper=element.findtext("case", "first-letter").strip() == "first-letter",
        namespaces=names,
    )
