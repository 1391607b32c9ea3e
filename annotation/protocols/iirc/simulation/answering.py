"""A whole answer page, filled in as a worker of some behaviour would: found by simple patterns."""

import random
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from annotation.protocols.iirc.checks import telling
from annotation.protocols.iirc.simulation.writing import NONSENSE, plain

Opener = Callable[[str, str], Mapping[str, Any] | None]
Answer = dict[str, Any]
Span = dict[str, Any]
MAIN = "main"
NONE: Answer = {"type": "none"}
OFF_TOPIC = "It asks nothing that a linked article could answer."
YEAR = r"\b(?:1\d{3}|20\d\d)\b"
QUANTITY = rf"(?<![\d.,])(?!{YEAR})\d[\d,]*(?:\.\d+)? [a-z]+"
NAME = r"[A-Z][a-z]\w*(?: [A-Z][a-z]\w*)*"
# What a reader looks for in each linked article, by what is asked; the first that fits decides.
LOOK_UP = (
    (r"\bcost\b", rf"(?<=cost ){QUANTITY}"),
    (r"\bwon\b", rf"(?<=won by ){NAME}"),
    (r"\bhow (?:many|much|long|high|old)\b", QUANTITY),
    (r"\bwhen\b|\byear\b", YEAR),
    (r"\bwho\b|\bwhere\b|\bwhat\b|\bwhich\b", rf"(?<=\b[a-z]{{2}} ){NAME}"),
)
# What is asked of the first years of two articles or more.
FIRST, CENTURY, APART = r"\bfirst\b|\bolder\b", r"\bsame century\b", r"\bhow many years lie\b"


class Found(NamedTuple):
    """Words of an article, where they are, and the sentence that proves them."""

    words: str
    span: Span
    sentence: Span


def answer(
    item: Mapping[str, Any], behaviour: Any, rng: random.Random, open_article: Opener
) -> dict[str, Any]:
    """Return {"item", "type", …} for one question of the page.

    open_article: what the page gets for (item id, title), None for an article that is not there.
    """
    if rng.random() < behaviour.nonsense:
        return {"item": item["id"], **_anything(item, rng)}
    if rng.random() < behaviour.gives_up:
        return {"item": item["id"], **NONE}
    passage = item["passage"]
    titles = " ".join(link["title"] for link in passage["links"])
    known = telling(f"{passage['title']} {passage['text']} {titles}") - telling(NONSENSE)
    if not any(word in known for word in telling(item["question"]) if not word.isdigit()):
        return {"item": item["id"], "type": "bad", "reason": OFF_TOPIC}
    articles = opened(item, open_article)
    given, proofs = find(item["question"], articles)
    if rng.random() < behaviour.wrong_answer:
        given, proofs = _another(given, proofs, articles, rng)
    if given["type"] != "none":
        partial = rng.random() < behaviour.partial_evidence
        given = {**given, "context": _evidence(item, proofs, partial=partial)}
    return {"item": item["id"], **given}


def opened(item: Mapping[str, Any], open_article: Opener) -> list[Mapping[str, Any]]:
    """Return the articles behind the links that the question's writer picked, where they are."""
    readable = {link["title"] for link in item["passage"]["links"] if link.get("readable", True)}
    pages = [open_article(item["id"], title) for title in item["writer_links"] if title in readable]
    return [page for page in pages if page]


def find(question: str, articles: Sequence[Mapping[str, Any]]) -> tuple[Answer, list[Found]]:
    """Return the answer in the page's form, without evidence, and what proves it.

    It follows from the texts alone, so that all careful readers of a question agree.
    """
    asked = question.casefold()
    dates = [found for article in articles if (found := _look(article, YEAR))]
    if re.search("|".join((FIRST, CENTURY, APART)), asked):
        return _compared(question, dates) if len(dates) == len(articles) > 1 else (NONE, [])
    pattern = next((pattern for words, pattern in LOOK_UP if re.search(words, asked)), None)
    for article in articles if pattern else ():
        if found := _look(article, str(pattern)):
            if QUANTITY in str(pattern):
                number, unit = found.words.split(" ")
                value = number.rstrip(",").replace(",", "")
                return {"type": "value", "value": value, "unit": unit}, [found]
            return {"type": "span", "spans": [found.span]}, [found]
    return NONE, []


def _compared(question: str, dates: list[Found]) -> tuple[Answer, list[Found]]:
    """Return what follows from the first years of all articles."""
    asked, years = question.casefold(), [int(date.words) for date in dates]
    if re.search(APART, asked):
        return {"type": "value", "value": str(max(years) - min(years)), "unit": "years"}, dates
    if re.search(CENTURY, asked):
        is_one = len({year // 100 for year in years}) == 1
        return {"type": "binary", "yes_no": "yes" if is_one else "no"}, dates
    name = plain(dates[years.index(min(years))].span["document"])
    start = question.find(name)
    if start < 0:
        return NONE, []
    span = {"document": "question", "start": start, "end": start + len(name)}
    return {"type": "span", "spans": [span]}, dates


def _look(article: Mapping[str, Any], pattern: str) -> Found | None:
    """Return the first piece of an article that matches."""
    for section in article["sections"]:
        for paragraph in section["paragraphs"]:
            for start, end in paragraph["sentences"]:
                if match := re.search(pattern, paragraph["text"][start:end]):
                    at = paragraph["start"] + start
                    place = {"start": at + match.start(), "end": at + match.end()}
                    sentence = {"start": at, "end": paragraph["start"] + end}
                    document = {"document": article["title"]}
                    return Found(match[0], document | place, document | sentence)
    return None


def _evidence(
    item: Mapping[str, Any], proofs: Sequence[Found], *, partial: bool
) -> list[dict[str, Any]]:
    """Return the spans that prove an answer: the writer's in the paragraph, then the articles'.

    partial: of an article only the words up to the answer, of the paragraph nothing.
    """
    if partial and proofs:
        return [{**found.sentence, "end": found.span["end"]} for found in proofs]
    spans = [
        {"document": MAIN, "start": span["start"], "end": span["end"]}
        for span in item["writer_context"]
    ]
    spans += [found.sentence for found in proofs]
    return spans or [_some_words(item, random.Random(item["question"]))]


def _another(
    given: Answer,
    proofs: list[Found],
    articles: Sequence[Mapping[str, Any]],
    rng: random.Random,
) -> tuple[Answer, list[Found]]:
    """Return an answer that a less careful reader might give instead."""
    if given["type"] == "binary":
        return {**given, "yes_no": "no" if given["yes_no"] == "yes" else "yes"}, proofs
    looked = [_look(article, pattern) for article in articles for _, pattern in LOOK_UP]
    others = [one for one in looked if one and [one.span] != given.get("spans")]
    if not others or (given["type"] != "none" and rng.random() < 0.3):
        return NONE, []
    chosen = rng.choice(others)
    return {"type": "span", "spans": [chosen.span]}, [chosen]


def _anything(item: Mapping[str, Any], rng: random.Random) -> dict[str, Any]:
    """Return some answer, proven by some words of the paragraph."""
    kinds: tuple[Answer, ...] = (
        {"type": "span", "spans": [_some_words(item, rng)]},
        {"type": "value", "value": str(rng.randrange(100)), "unit": ""},
        {"type": "binary", "yes_no": rng.choice(("yes", "no"))},
    )
    chosen = rng.choice((*kinds, NONE))
    return chosen if chosen is NONE else {**chosen, "context": [_some_words(item, rng)]}


def _some_words(item: Mapping[str, Any], rng: random.Random) -> dict[str, Any]:
    """Return a span anywhere in the paragraph, else in the question, words cut through."""
    for document, text in ((MAIN, item["passage"]["text"]), ("question", item["question"])):
        solid = [at for at, letter in enumerate(text) if not letter.isspace()]
        if solid:
            start = rng.choice(solid)
            end = min(len(text), start + rng.randint(1, 30))
            return {"document": document, "start": start, "end": end}
    return {"document": MAIN, "start": 0, "end": 1}
