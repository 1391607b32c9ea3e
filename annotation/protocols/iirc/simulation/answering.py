"""A whole answer page, filled in as a worker of some behaviour would."""

import random
from collections.abc import Callable, Mapping
from typing import Any

from annotation.protocols.iirc.simulation import answers, facts
from annotation.protocols.iirc.simulation.articles import Article, Found, read

Opener = Callable[[str, str], Mapping[str, Any] | None]
MAIN = "main"
OFF_TOPIC = "It asks nothing that a linked article could answer."


def answer(
    item: Mapping[str, Any], behaviour: Any, rng: random.Random, open_article: Opener
) -> dict[str, Any]:
    """Return {"item", "type", …} for one question of the page.

    open_article: what the page gets for (item id, title), None for an article that is not there.
    """
    if rng.random() < behaviour.nonsense:
        return {"item": item["id"], **_anything(item, rng)}
    if rng.random() < behaviour.gives_up:
        return {"item": item["id"], **answers.NONE}
    question, passage = item["question"], item["passage"]
    if answers.is_nonsense(question, passage):
        return {"item": item["id"], "type": "bad", "reason": OFF_TOPIC}
    articles = opened(item, open_article)
    given, proofs = answers.find(question, passage, articles)
    if rng.random() < behaviour.wrong_answer:
        given, proofs = _another(given, articles, rng)
    if given["type"] in ("span", "value", "binary"):
        partial = rng.random() < behaviour.partial_evidence
        given = {**given, "context": evidence(item, proofs, partial=partial)}
    return {"item": item["id"], **given}


def evidence(
    item: Mapping[str, Any], proofs: list[Found], *, partial: bool = False
) -> list[dict[str, Any]]:
    """Return the spans that prove an answer: the writer's in the paragraph, then the articles'.

    partial: of an article only the words up to the answer, of the paragraph nothing.
    """
    spans = []
    if not partial or not proofs:
        spans = [
            {"document": MAIN, "start": span["start"], "end": span["end"]}
            for span in item["writer_context"]
        ]
    for found in proofs:
        sentence = found.sentence
        end = found.end if partial else sentence.end
        span = {"document": found.document, "start": sentence.start, "end": end}
        if span not in spans:
            spans.append(span)
    return spans or [_some_words(item, random.Random(item["question"]))]


def opened(item: Mapping[str, Any], open_article: Opener) -> list[Article]:
    """Return the articles behind the links that the question's writer picked, where they are."""
    readable = {link["title"] for link in item["passage"]["links"] if link.get("readable", True)}
    pages = [open_article(item["id"], title) for title in item["writer_links"] if title in readable]
    return [read(page) for page in pages if page]


def _another(
    given: answers.Answer, articles: list[Article], rng: random.Random
) -> tuple[answers.Answer, list[Found]]:
    """Return an answer that a less careful reader might give instead."""
    kind = given["type"]
    if kind == "binary":
        other = "no" if given["yes_no"] == "yes" else "yes"
        found = [one for one in map(facts.beginning, articles) if one]
        return {**given, "yes_no": other}, found
    looks = (facts.begun, facts.place, facts.maker, facts.description, facts.fame)
    found = [one for look in looks for one in map(look, articles) if one]
    spans = [one for one in found if [one.span()] != given.get("spans")]
    if not spans or (kind != "none" and rng.random() < 0.3):
        return answers.NONE, []
    chosen = rng.choice(spans)
    return {"type": "span", "spans": [chosen.span()]}, [chosen]


def _anything(item: Mapping[str, Any], rng: random.Random) -> dict[str, Any]:
    """Return some answer, proven by some words of the paragraph."""
    kind = rng.choice(("span", "span", "value", "binary", "none"))
    if kind == "none":
        return dict(answers.NONE)
    words = [_some_words(item, rng)]
    if kind == "span":
        return {"type": kind, "spans": [_some_words(item, rng)], "context": words}
    if kind == "value":
        return {"type": kind, "value": str(rng.randrange(100)), "unit": "", "context": words}
    return {"type": kind, "yes_no": rng.choice(("yes", "no")), "context": words}


def _some_words(item: Mapping[str, Any], rng: random.Random) -> dict[str, Any]:
    """Return a span anywhere in the paragraph, else in the question, words cut through."""
    for document, text in ((MAIN, item["passage"]["text"]), ("question", item["question"])):
        solid = [at for at, letter in enumerate(text) if not letter.isspace()]
        if solid:
            start = rng.choice(solid)
            end = min(len(text), start + rng.randint(1, 30))
            return {"document": document, "start": start, "end": end}
    return {"document": MAIN, "start": 0, "end": 1}
