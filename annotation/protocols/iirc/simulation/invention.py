"""Questions a reader of one paragraph may ask about what its links hold."""

import random
import re
from collections.abc import Mapping, Sequence
from typing import Any

from annotation.protocols.iirc.simulation.subjects import (
    BODY,
    EVENT,
    PERSON,
    PLACE,
    STRUCTURE,
    THING,
    WORK,
    Subject,
    subjects_of,
)

ONE = {
    PERSON: (
        "in what year was {s} born",
        "where was {s} born",
        "what was the occupation of {s}",
        "when did {s} die",
        "where did {s} go to school",
        "how many children did {s} have",
    ),
    PLACE: (
        "how many inhabitants does {s} have",
        "what is {s} known for",
        "in which country or region does {s} lie",
        "how long or how high is {s}",
        "when was {s} first settled",
        "what is the oldest building of {s}",
    ),
    STRUCTURE: (
        "in what year was {s} built",
        "who designed or built {s}",
        "how long or how high is {s}",
        "how much did {s} cost to build",
    ),
    BODY: (
        "in what year was {s} founded",
        "who founded {s}",
        "how many members does {s} have",
        "who led {s} in its first years",
        "where does {s} have its seat",
    ),
    EVENT: (
        "in what year did {s} first take place",
        "how many people died in {s}",
        "where did {s} take place",
        "who won {s}",
        "what did {s} cost",
    ),
    WORK: (
        "who made {s}",
        "in what year did {s} first appear",
        "how many pages or minutes long is {s}",
    ),
    THING: (
        "what is {s} known for",
        "in what year did {s} first appear",
        "where is {s} chiefly found",
        "what kind of thing is {s}",
    ),
}
WITH_YEAR = {
    PERSON: "how old was {s} in {year}",
    STRUCTURE: "how many years before {year} was {s} built",
    BODY: "how many years before {year} was {s} founded",
}
TWO_PEOPLE = (
    "who was born first, {a} or {b}",
    "how many years lie between the births of {a} and {b}",
    "were {a} and {b} born in the same decade",
)
TWO = (
    "which is older, {a} or {b}",
    "how many years lie between the beginnings of {a} and {b}",
    "do {a} and {b} date from the same century",
)
SEVERAL = "which of these came first: {all}"
YEAR = re.compile(r"\b1\d{3}\b|\b20\d\d\b")


def invent(
    item: Mapping[str, Any], n_links: int, rng: random.Random, *, careless: bool = False
) -> dict[str, Any]:
    """Return {"item", "text", "context", "links"}: a question that needs `n_links` linked articles.

    item: a paragraph as the page has it, with at least one link; fewer links are picked where it
    has no more. careless: names the linked article alone and forgets the question mark.
    """
    subjects = subjects_of(item)
    about = _picked(item, subjects, n_links, rng)
    span = _evidence(item, about)
    if len(about) > 1:
        asked = _of_several(about, rng)
        front = "" if careless else _front_of_several(item, about[0], span, rng)
    else:
        asked, front = _of_one(item, about[0], subjects, span, rng, careless=careless)
    text = f"{front}{asked}"
    text = " ".join(f"{text[:1].upper()}{text[1:]}".split()).rstrip(",")
    return {
        "item": item["id"],
        "text": text if careless else f"{text}?",
        "context": [{"start": start, "end": end} for start, end in span],
        "links": [subject.title for subject in about],
    }


def _picked(
    item: Mapping[str, Any], subjects: Sequence[Subject], n_links: int, rng: random.Random
) -> list[Subject]:
    """Return the subjects asked about, those of one sentence and of one kind rather than others."""
    first = rng.choice(subjects)
    others = [subject for subject in subjects if subject is not first]
    rng.shuffle(others)
    home = _sentence(item, first)
    others.sort(
        key=lambda one: (
            one.name == first.name,
            one.kind != first.kind,
            _sentence(item, one) != home,
        )
    )
    return [first, *others[: n_links - 1]]


def _evidence(item: Mapping[str, Any], about: Sequence[Subject]) -> list[tuple[int, int]]:
    """Return the sentences that name the subjects, each once, in order."""
    return sorted({_sentence(item, subject) for subject in about})


def _sentence(item: Mapping[str, Any], subject: Subject) -> tuple[int, int]:
    for start, end in item["sentences"]:
        if start <= subject.start < end and item["text"][start:end].strip():
            return start, end
    return subject.start, subject.end


def _of_several(about: Sequence[Subject], rng: random.Random) -> str:
    names = [subject.name for subject in about]
    if len(about) > 2:
        return SEVERAL.format(all=f"{', '.join(names[:-1])} or {names[-1]}")
    people = all(subject.kind == PERSON for subject in about)
    return rng.choice(TWO_PEOPLE if people else TWO).format(a=names[0], b=names[1])


def _front_of_several(
    item: Mapping[str, Any], first: Subject, span: Sequence[tuple[int, int]], rng: random.Random
) -> str:
    if rng.random() < 0.6:
        return f"In the passage on {item['title']}, "
    start, end = next((one for one in span if one[0] <= first.start < one[1]), span[0])
    return f"The passage says “{_quote(item['text'], first, start, end)}”: "


def _of_one(
    item: Mapping[str, Any],
    subject: Subject,
    subjects: Sequence[Subject],
    span: Sequence[tuple[int, int]],
    rng: random.Random,
    *,
    careless: bool,
) -> tuple[str, str]:
    """Return the question and the words before it that tie it to the paragraph."""
    start, end = span[0]
    sentence = item["text"][start:end]
    templates = list(ONE[subject.kind])
    years = YEAR.findall(sentence)
    if years and subject.kind in WITH_YEAR:
        templates.append(WITH_YEAR[subject.kind].replace("{year}", rng.choice(years)))
    template = rng.choice(templates)
    if careless:
        return template.format(s=subject.name), ""
    beside = [
        one.name for one in subjects if one is not subject and _sentence(item, one) == (start, end)
    ]
    ways = ["passage"]
    ways += ["beside"] * bool(beside) + ["quote", "quote"] * (len(sentence) > 40)
    ways += ["deed", "deed"] * bool(subject.deed)
    way = rng.choice(ways)
    if way == "beside":
        other = rng.choice(beside)
        return template.format(s=f"{subject.name}, named together with {other},"), ""
    if way == "deed":
        return template.format(s=f"the person who, as the passage says, “{subject.deed}”"), ""
    if way == "quote":
        quote = _quote(item["text"], subject, start, end)
        return template.format(s=f"this {subject.kind}"), f"The passage says “{quote}”: "
    return template.format(s=subject.name), f"According to the passage on {item['title']}, "


def _quote(text: str, subject: Subject, start: int, end: int) -> str:
    """Return some words of the sentence around the link."""
    before = text[start : subject.start].split()[-5:]
    after = text[subject.end : end].rstrip(" .").split()[:5]
    words = " ".join([*before, text[subject.start : subject.end], *after])
    return re.sub(r"[“”\"]|\s+(?=[,;:.])", "", words).strip(" ,;:")
