"""A whole question page, filled in as a worker of some behaviour would."""

import random
from collections.abc import Mapping, Sequence
from typing import Any

from annotation.protocols.iirc.simulation.inspection import is_careless
from annotation.protocols.iirc.simulation.invention import invent
from annotation.protocols.iirc.simulation.subjects import subjects_of
from tasks.simulation.behaviour import Behaviour

# How often a writer thinks again about a question that the page advises against.
MOST_ATTEMPTS = 8
NONSENSE = "What is the most important thing that this text says, number {number}?"
PLAIN = "What else do the articles behind these links say, question {number}?"


def write(
    page: Mapping[str, Any],
    behaviour: Behaviour,
    rng: random.Random,
    written: Sequence[Mapping[str, Any]] = (),
) -> list[dict[str, Any]]:
    """Return as many questions as the page still asks for after those already `written`.

    One on each paragraph before a second on any. Enough of them need several links, where the
    paragraphs have them.
    """
    items = [item for item in page["items"] if subjects_of(item)]
    limits = page["limits"]
    missing = limits["questions"] - len(written)
    if not items or missing <= 0:
        return []
    have = sum(len(one["links"]) >= limits["multi_link_min_links"] for one in written)
    multi = [limits["multi_link_min_links"]] * max(0, limits["multi_link_questions"] - have)
    spare = max(0, missing - len(multi))
    wanted = [*multi, *(rng.choice((1, 1, 1, 1, 1, 2, 2, 3)) for _ in range(spare))][:missing]
    rng.shuffle(items)
    items.sort(key=lambda item: any(one["item"] == item["id"] for one in written))
    texts = {_same(one["text"]) for one in written}
    questions: list[dict[str, Any]] = []
    for number, (n_links, item) in enumerate(_shared_out(wanted, items), len(written) + 1):
        if rng.random() < behaviour.nonsense:
            question = _anything(max(items, key=_n_titles), n_links, number, rng)
        else:
            question = _thought_over(item, n_links, behaviour, limits, rng)
        if _same(question["text"]) in texts:
            question["text"] = PLAIN.format(number=number)
        texts.add(_same(question["text"]))
        questions.append(question)
    rng.shuffle(questions)
    return questions


def _shared_out(
    wanted: Sequence[int], items: Sequence[Mapping[str, Any]]
) -> list[tuple[int, Mapping[str, Any]]]:
    """Return each wanted number of links with a paragraph that has as many, in turn."""
    turns = list(items)
    shared = []
    for n_links in sorted(wanted, reverse=True):
        item = next((one for one in turns if _n_titles(one) >= n_links), None)
        item = item or max(items, key=_n_titles)
        if item in turns:
            turns.remove(item)
        turns = turns or list(items)
        shared.append((n_links, item))
    return shared


def _n_titles(item: Mapping[str, Any]) -> int:
    return len(subjects_of(item))


def _thought_over(
    item: Mapping[str, Any],
    n_links: int,
    behaviour: Behaviour,
    limits: Mapping[str, int],
    rng: random.Random,
) -> dict[str, Any]:
    """Return a question that asks what the paragraph leaves out, unless written carelessly."""
    careless = rng.random() < behaviour.careless_question
    question: dict[str, Any] = {}
    for _ in range(MOST_ATTEMPTS):
        question = invent(item, n_links, rng, careless=careless)
        if len(question["text"]) > limits["max_question_characters"]:
            question["text"] = PLAIN.format(number=rng.randrange(100, 1000))
        elif careless or not is_careless(question, item):
            break
    if rng.random() < behaviour.partial_evidence:
        question["context"] = [_part(item, span, rng) for span in question["context"]]
    return question


def _part(item: Mapping[str, Any], span: dict[str, int], rng: random.Random) -> dict[str, int]:
    """Return the first or the last words of a span, a half or more of them."""
    start, end = span["start"], span["end"]
    words = item["text"][start:end]
    spaces = [at for at, letter in enumerate(words) if letter == " "]
    inner = [at for at in spaces if len(words) / 2 <= at and words[:at].strip()]
    if not inner:
        return span
    return {"start": start, "end": start + rng.choice(inner)}


def _anything(
    item: Mapping[str, Any], n_links: int, number: int, rng: random.Random
) -> dict[str, Any]:
    """Return the same question as ever, with some words marked and some links picked."""
    text = item["text"]
    solid = [at for at, letter in enumerate(text) if not letter.isspace()]
    start = rng.choice(solid)
    titles = list(dict.fromkeys(link["title"] for link in item["links"]))
    return {
        "item": item["id"],
        "text": NONSENSE.format(number=number),
        "context": [{"start": start, "end": min(len(text), start + rng.randint(1, 40))}],
        "links": rng.sample(titles, min(n_links, len(titles))),
    }


def _same(text: str) -> str:
    return " ".join(text.casefold().split())
