"""What workers read before they worked: the instructions of each stage, and the consent."""

import re
from collections.abc import Iterator

from django.db.models import QuerySet

from collector.code_points import CodePoints
from collector.models import Collection, CollectionText
from collector.protocols.creation import parameters_of
from tasks.models import Lease
from tasks.pages.wording import fill_placeholders

FILE = "instructions.md"
ABOUT = "the instructions of each stage, in every version that somebody worked by"
HEAD = (
    "# What workers read\n\n"
    "The instructions of each stage, in every version that somebody worked by. Numbers are those\n"
    "of the last settings; what stands in braces each HIT has filled in. What workers agreed to\n"
    "is in the README.\n"
)
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)


def instructions_lines(collection: Collection) -> Iterator[bytes]:
    """Yield the file of all instructions that were read, in pieces; nothing where none were."""
    for place, text in enumerate(_read(collection, "instructions")):
        if not place:
            yield HEAD.encode()
        told = quoted(collection, text, stage=text.name)
        yield f"\n## {text.name}, version {text.version}\n\n{told}".encode()


def versions_read(collection: Collection) -> str:
    """Return which versions of their instructions workers have seen, by stage; blank for none."""
    versions: dict[str, list[int]] = {}
    for text in _read(collection, "instructions"):
        versions.setdefault(text.name, []).append(text.version)
    told = "; ".join(f"{name} {', '.join(map(str, each))}" for name, each in versions.items())
    return f"Versions of the instructions that workers read: {told}." if told else ""


def consent_text(collection: Collection) -> CollectionText | None:
    """Return the latest words that workers consented to, None where nobody was asked."""
    return _read(collection, "consent_text").last()


def quoted(collection: Collection, text: CollectionText, stage: str = "") -> str:
    """Return a text as a quotation in Markdown; numbers that differ by HIT stay in braces."""
    words = COMMENT.sub("", text.markdown)
    filled = fill_placeholders(words, collection, parameters_of(collection), stage)
    return "".join(f"> {line}".rstrip() + "\n" for line in filled.strip().splitlines())


def _read(collection: Collection, field: str) -> "QuerySet[CollectionText]":
    """Return the texts that a lease names in this field, by name and version."""
    named = Lease.objects.filter(unit__stage__collection=collection, **{f"{field}__isnull": False})
    texts = CollectionText.objects.filter(pk__in=named.order_by().values(field))
    return texts.order_by(CodePoints("name"), "version")
