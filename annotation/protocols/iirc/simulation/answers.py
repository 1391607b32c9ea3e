"""The answer a careful reader finds in the linked articles, the same for every careful reader."""

import hashlib
import random
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from annotation.protocols.iirc.simulation import facts
from annotation.protocols.iirc.simulation.articles import Article, Found
from annotation.protocols.iirc.simulation.subjects import plain

Answer = dict[str, Any]
Finder = Callable[[Article], Found | None]
NONE: Answer = {"type": "none"}
# Beginnings of the questions and what to look for; the first that fits decides.
LOOK_UP: tuple[tuple[str, Finder], ...] = (
    (r"\bborn\b.*\bwhere\b|\bwhere\b.*\bborn\b", facts.birthplace),
    (r"\bborn\b|\bbirth\b", facts.born),
    (r"\bdie\b|\bdied?\b(?<!people die)(?<!people died)", facts.died),
    (r"\bwhen\b|\b(?:what|which) (?:year|date|day)\b", facts.beginning),
    (r"\bschool\b", facts.school),
    (r"\bwho won\b|\bwinner\b", facts.winner),
    (r"\bwho\b|\bby whom\b", facts.maker),
    (r"\bwhere\b|\b(?:what|which) (?:country|town|city|region|place|\w+ province)\b", facts.place),
    (r"\bknown for\b|\bfamous\b", facts.fame),
    (r"\boccupation\b|\bwhat kind\b", facts.description),
)
COUNTS: tuple[tuple[str, str], ...] = (
    (r"\binhabitants\b|\bpopulation\b", "inhabitants|people|residents"),
    (r"\bpeople (?:die|died|were killed|attended)\b", "people died|people were killed|dead|people"),
    (r"\bmembers\b", "members|players|pupils|employees"),
)
MEASURES = r"\bhow (?:long|high|tall|wide|large|far)\b|\bpages\b"
COMPARES = r"\b(?:came first|is older|was older|born first|founded first|the older)\b"
BETWEEN = r"\bhow many years (?:lie|are there|passed)\b|\bage difference\b"
TOGETHER = r"\bsame (century|decade)\b"
AGE = r"\bhow (?:old|many years)\b.*\b(1\d{3}|20\d\d)\b"


def find(
    question: str, passage: Mapping[str, Any], articles: Sequence[Article]
) -> tuple[Answer, list[Found]]:
    """Return the answer in the page's form, without evidence, and what proves it.

    It follows from the texts alone. articles: those behind the links that the writer picked.
    """
    asked = question.casefold()
    for pattern, finder in (
        (COMPARES, _first),
        (BETWEEN, _years_between),
        (TOGETHER, _together),
        (AGE, _age),
    ):
        if re.search(pattern, asked):
            return finder(question, passage, articles)
    for article in articles:
        found = _number(asked, article) or _looked_up(asked, article)
        if found:
            return found
    return NONE, []


def is_nonsense(question: str, passage: Mapping[str, Any]) -> bool:
    """Return whether a question has nothing to do with its passage."""
    known = _names(f"{passage['title']} {passage['text']}")
    for link in passage["links"]:
        known |= _names(link["title"])
    return not _names(question) & known


def chance(question: str, passage: Mapping[str, Any]) -> random.Random:
    """Return the source of every choice that careful readers of a question make alike."""
    text = f"{question}\n{passage['title']}\n{passage['text']}"
    return random.Random(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest())


def _names(text: str) -> set[str]:
    return {word.casefold() for word in re.findall(r"\w{4,}", text)} - {
        *("what", "which", "when", "where", "that", "this", "there", "does", "with", "from"),
        *("text", "thing", "most", "important", "passage", "here", "many", "year", "years"),
    }


def _number(asked: str, article: Article) -> tuple[Answer, list[Found]] | None:
    found = None
    for pattern, nouns in COUNTS:
        if re.search(pattern, asked):
            found = facts.count(article, nouns)
    if found is None and re.search(MEASURES, asked):
        found = facts.size(article)
    quantity = facts.quantity(found) if found else None
    if found is None or quantity is None:
        return None
    return {"type": "value", "value": quantity[0], "unit": quantity[1]}, [found]


def _looked_up(asked: str, article: Article) -> tuple[Answer, list[Found]] | None:
    if re.search(r"\bhow (?:many|much|long|high|old)\b", asked):
        return None
    for pattern, finder in LOOK_UP:
        if re.search(pattern, asked):
            found = finder(article)
            return ({"type": "span", "spans": [found.span()]}, [found]) if found else None
    return None


def _beginnings(articles: Sequence[Article]) -> list[Found] | None:
    found = [facts.beginning(article) for article in articles]
    return [one for one in found if one] if len(found) > 1 and all(found) else None


def _first(
    question: str, passage: Mapping[str, Any], articles: Sequence[Article]
) -> tuple[Answer, list[Found]]:
    """Answer with the name that the question itself uses for what began first."""
    dates = _beginnings(articles)
    if not dates:
        return NONE, []
    earliest = min(dates, key=facts.year)
    for name in _ways_to_say(earliest.document, passage):
        start = question.find(name)
        if start >= 0:
            span = {"document": "question", "start": start, "end": start + len(name)}
            return {"type": "span", "spans": [span]}, dates
    return NONE, []


def _ways_to_say(title: str, passage: Mapping[str, Any]) -> list[str]:
    surfaces = [
        passage["text"][link["start"] : link["end"]].strip()
        for link in passage["links"]
        if link["title"] == title
    ]
    return sorted({name for name in (title, plain(title), *surfaces) if name}, key=len)[::-1]


def _years_between(
    question: str, passage: Mapping[str, Any], articles: Sequence[Article]
) -> tuple[Answer, list[Found]]:
    dates = _beginnings(articles)
    if not dates:
        return NONE, []
    years = sorted(facts.year(date) for date in dates)
    return {"type": "value", "value": str(years[-1] - years[0]), "unit": "years"}, dates


def _together(
    question: str, passage: Mapping[str, Any], articles: Sequence[Article]
) -> tuple[Answer, list[Found]]:
    dates = _beginnings(articles)
    if not dates:
        return NONE, []
    length = 10 if "decade" in question.casefold() else 100
    spans = {facts.year(date) // length for date in dates}
    return {"type": "binary", "yes_no": "yes" if len(spans) == 1 else "no"}, dates


def _age(
    question: str, passage: Mapping[str, Any], articles: Sequence[Article]
) -> tuple[Answer, list[Found]]:
    given = re.search(AGE, question.casefold())
    date = facts.beginning(articles[0]) if articles else None
    if given is None or date is None or facts.year(date) > int(given[1]):
        return NONE, []
    value = str(int(given[1]) - facts.year(date))
    return {"type": "value", "value": value, "unit": "years"}, [date]
