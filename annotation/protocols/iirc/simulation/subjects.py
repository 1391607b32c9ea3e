"""What a link names, as far as a reader of the paragraph can tell, and the words for it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

PERSON, PLACE, STRUCTURE, BODY, EVENT, WORK, THING = (
    "person",
    "place",
    "structure",
    "institution",
    "event",
    "work",
    "subject",
)
_WORDS = {
    STRUCTURE: "bridge viaduct mill quarry harbour castle hall house theatre railway station "
    "hospital chapel church cathedral lighthouse light tower stadium arena airport canal palace "
    "temple cross mole pier dam building monument garden gardens",
    BODY: "school college university club society museum league union party packet "
    "clarion library band orchestra academy institute records press moot council parliament "
    "line company co government court police army navy regiment f.c. fc association committee "
    "congress team",
    EVENT: "flood fire war battle strike election treaty regatta cup race prize festival award "
    "awards olympics championship tour revolution siege conference accident wreck season act",
    PLACE: "river fell mount mountain island islands lake bay sea ocean valley county city town "
    "village province state states kingdom republic empire district haven moor coast park forest "
    "desert north south east west street road",
    WORK: "album song film novel opera poem painting book series ledger symphony",
}
_KIND_OF_WORD = {word: kind for kind, words in _WORDS.items() for word in words.split()}
_NAME = re.compile(r"(?!The )(?:[A-Z][a-z'’.-][\w'’.-]* ){1,2}[A-Z][\w'’.-]+")
_BEFORE_PLACE = re.compile(r"\b(?:in|at|near|from|to|through|around|above|beyond|under|on) $")
_AFTER_PERSON = re.compile(
    r" (?:(?!need)\w+ed|was|became|gave|began|led|wrote|had|made|won|sang|said)\b"
)


@dataclass(frozen=True)
class Subject:
    """One link: `name` as it reads inside a sentence, `kind` one of the words above."""

    title: str
    name: str
    kind: str
    start: int
    end: int
    deed: str = ""


def subjects_of(item: Mapping[str, Any]) -> list[Subject]:
    """Return one subject for each distinct link of a paragraph, in order; item: as a page has it.

    `deed` is what the paragraph says a person did, from the verb to the next stop.
    """
    found: dict[str, Subject] = {}
    text = item["text"]
    for link in item["links"]:
        start, end = link["start"], link["end"]
        if link["title"] not in found and text[start:end].strip():
            found[link["title"]] = _subject(text, start, end, link["title"])
    return list(found.values())


def _subject(text: str, start: int, end: int, title: str) -> Subject:
    before, after, surface = text[max(0, start - 40) : start], text[end:], text[start:end]
    kind = kind_of(title, before, after)
    deed = ""
    if kind == PERSON and _AFTER_PERSON.match(after):
        deed = " ".join(re.split(r"[,.;:()“”\"]", after, maxsplit=1)[0].split()[:9])
    # A link may cover a common noun, which says less than the title of its article.
    name = surface if surface[:1].isupper() else plain(title)
    if name == surface and before.endswith(("the ", "The ")) and not name.startswith("The "):
        name = f"the {name}"
    return Subject(title, " ".join(name.split()), kind, start, end, deed)


def kind_of(title: str, before: str, after: str) -> str:
    """Return what `title` seems to be, by its words and by the words around the link."""
    for word in reversed(re.findall(r"[\w.]+", title.casefold())):
        if word in _KIND_OF_WORD:
            return _KIND_OF_WORD[word]
    is_place = bool(_BEFORE_PLACE.search(before)) and title[:1].isupper()
    if _NAME.fullmatch(title) and (_AFTER_PERSON.match(after) or not is_place):
        return PERSON
    return PLACE if is_place else THING


def plain(title: str) -> str:
    """Return a title without the words in brackets that tell it from others."""
    return re.sub(r"\s*\([^()]*\)\s*$", "", title) or title
