"""What only a requester can say of a dataset: asked once, kept in rows, told by later releases."""

from collections.abc import Mapping
from datetime import datetime
from urllib.parse import urlsplit

from django.db import transaction

from annotation.models import About, Statement
from collector.models import Collection
from common.actions import ActionError

LONGEST = 4_000
# What each is for, as the form asks it.
HELP: dict[str, str] = {
    About.AUTHORS: "Who is to be cited, one a line, as “Lovelace, Ada”; else the requester is.",
    About.CONTACT: "Where readers of the dataset can write to; it is published.",
    About.PAGE: "The address of a page or paper about the dataset.",
    About.USES: "What the dataset is made for: training, testing, which systems, which question.",
    About.LIMITS: "What it does not show, and what nobody should use it for.",
    About.BIASES: "Whose view it takes: topics, sources, language, the people who wrote.",
    About.IMPACT: "Who may gain or be harmed by what is built with it.",
    About.PERSONAL: "Whether texts or questions tell of living people, and what you did about it.",
    About.PEOPLE: "How they were found, and what you know of them as a group: languages, places.",
    About.ETHICS: "Which board looked at it and what it decided, or why none had to.",
    About.MACHINES: "Whether workers could use machines to write, and how you looked for it.",
    About.UPKEEP: "Who mends mistakes, how long, and where they are told.",
}


def said(collection: Collection) -> dict[str, str]:
    """Return what holds now, by its name, in the order of the form, without what is not said."""
    rows = Statement.objects.filter(collection=collection)
    latest = dict(rows.values_list("about", "text"))
    return {about: text for about in About.values if (text := latest.get(about, ""))}


def not_said(told: Mapping[str, str]) -> list[str]:
    """Return the names, for people, of what is still to be said."""
    return [str(About(about).label) for about in About.values if about not in told]


def authors_of(told: Mapping[str, str]) -> list[str]:
    """Return the authors as they are cited."""
    lines = (line.strip() for line in told.get(About.AUTHORS, "").splitlines())
    return [line for line in lines if line]


@transaction.atomic
def do_say(collection: Collection, wanted: Mapping[str, str], by: str, now: datetime) -> list[str]:
    """Keep what is said otherwise than before; return the names of what changed.

    An empty text takes back what was said. Raises ActionError for a name that is not asked, a text
    that is too long, or an address that is none.
    """
    Collection.objects.select_for_update().get(pk=collection.pk)
    texts = {about: "\n".join(text.split("\r\n")).strip() for about, text in wanted.items()}
    problems = [problem for about, text in texts.items() if (problem := problem_of(about, text))]
    if problems:
        raise ActionError(" ".join(problems))
    before = said(collection)
    changed = [about for about, text in texts.items() if text != before.get(about, "")]
    Statement.objects.bulk_create(
        Statement(collection=collection, about=about, text=texts[about], by=by, at=now)
        for about in changed
    )
    return changed


def problem_of(about: str, text: str) -> str:
    """Return what is wrong with a text, in a sentence; blank where nothing is."""
    if about not in About.values:
        return f"Nothing called {about!r} is asked: say one of {', '.join(About.values)}."
    label = About(about).label
    if len(text) > LONGEST:
        return f"{label}: {len(text):,} characters are too many; {LONGEST:,} can be kept."
    if about == About.PAGE and text and not _is_address(text):
        return f"{label}: give an address that begins with https:// or http://."
    if about in (About.CONTACT, About.PAGE) and "\n" in text:
        return f"{label}: write it on one line."
    return ""


def _is_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.netloc) and not set(text) & set(" {}")
