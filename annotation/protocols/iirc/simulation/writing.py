"""A whole question page, filled in as a worker of some behaviour would."""

import random
import re
from collections.abc import Mapping, Sequence
from typing import Any

from annotation.protocols.iirc import checks
from tasks.simulation.behaviour import Behaviour

# How often a writer thinks again about a question that the page advises against.
MOST_ATTEMPTS = 8
NONSENSE = "What is the most important thing that this text says, number {number}?"
PLAIN = "What else do the articles behind these links say, question {number}?"
ONE = (
    "in what year did {s} begin",
    "where does {s} lie",
    "who is named together with {s}",
    "what is {s} known for",
    "how many are there of {s}",
    "who has won {s}",
    "what did {s} cost",
)
SEVERAL = (
    "which came first, {s}",
    "how many years lie between {s}",
    "do {s} date from the same century",
)


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
    items = [item for item in page["items"] if _titles(item)]
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
    turns: list[Mapping[str, Any]] = []
    for number, n_links in enumerate(sorted(wanted, reverse=True), len(written) + 1):
        turns = turns or list(items)
        # Those with the fewest links that are enough leave the others for those that need more.
        enough = [one for one in turns if len(_titles(one)) >= n_links]
        item = enough[0] if enough else max(items, key=lambda one: len(_titles(one)))
        turns = [one for one in turns if one is not item]
        question = _question(item, n_links, number, behaviour, limits, rng)
        if _same(question["text"]) in texts:
            question["text"] = PLAIN.format(number=number)
        texts.add(_same(question["text"]))
        questions.append(question)
    rng.shuffle(questions)
    return questions


def _question(
    item: Mapping[str, Any],
    n_links: int,
    number: int,
    behaviour: Behaviour,
    limits: Mapping[str, int],
    rng: random.Random,
) -> dict[str, Any]:
    """Return a question that asks what the paragraph leaves out, unless written carelessly."""
    is_nonsense = rng.random() < behaviour.nonsense
    is_careless = rng.random() < behaviour.careless_question
    for _ in range(MOST_ATTEMPTS):
        titles = _titles(item)
        titles = rng.sample(titles, min(n_links, len(titles)))
        spans = sorted({_sentence(item, title) for title in titles})
        if rng.random() < behaviour.partial_evidence or is_nonsense:
            spans = [_part(item["text"], *span) for span in spans]
        text = NONSENSE.format(number=number) if is_nonsense else _text(item, titles, rng)
        if is_careless and not is_nonsense:
            text = text.rpartition("”: ")[2].rstrip("?")
        if len(text) > limits["max_question_characters"]:
            text = PLAIN.format(number=rng.randrange(100, 1000))
        question = {
            "item": item["id"],
            "text": text,
            "context": [{"start": start, "end": end} for start, end in spans],
            "links": titles,
        }
        if is_nonsense or is_careless or not is_advised_against(question, item):
            break
    return question


def is_advised_against(question: Mapping[str, Any], item: Mapping[str, Any]) -> bool:
    """Return whether the page advises against the question, or one sentence holds all its words.

    The page does not say the latter: many a good question about a date has no other words.
    """
    asked = checks.telling(question["text"])
    echo = len(asked) > 1 and any(
        asked <= checks.telling(item["text"][start:end]) for start, end in item["sentences"]
    )
    return echo or any(checks.advice(0, question, item))


def plain(title: str) -> str:
    """Return a title without the words in brackets that tell it from others."""
    return re.sub(r"\s*\([^()]*\)\s*$", "", title) or title


def _titles(item: Mapping[str, Any]) -> list[str]:
    """Return the articles that the paragraph's visible links lead to, each once."""
    links = [one for one in item["links"] if item["text"][one["start"] : one["end"]].strip()]
    return list(dict.fromkeys(link["title"] for link in links))


def _text(item: Mapping[str, Any], titles: Sequence[str], rng: random.Random) -> str:
    """Return a question about the linked articles, tied to the paragraph by some of its words."""
    *names, last = map(plain, titles)
    asked = rng.choice(SEVERAL if names else ONE)
    joint = " or " if asked == SEVERAL[0] else " and "
    asked = asked.format(s=joint.join([", ".join(names), last] if names else [last]))
    words = item["text"][slice(*_sentence(item, titles[0]))].split()
    first = rng.randrange(max(1, len(words) - 7))
    quote = re.sub(r"[“”\"]", "", " ".join(words[first : first + 8])).strip(" ,;:.")
    return f"The passage on {item['title']} says “{quote}”: {' '.join(asked.split())}?"


def _sentence(item: Mapping[str, Any], title: str) -> tuple[int, int]:
    """Return where the sentence is that holds the link, or the link where no sentence does."""
    links = [(one["start"], one["end"]) for one in item["links"] if one["title"] == title]
    link = next(span for span in links if item["text"][slice(*span)].strip())
    sentences = [(start, end) for start, end in item["sentences"] if start <= link[0] < end]
    return next((one for one in sentences if item["text"][slice(*one)].strip()), link)


def _part(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the first words of a span, a half or more of them."""
    half = text.find(" ", start + (end - start) // 2, end)
    return (start, half) if text[start : max(start, half)].strip() else (start, end)


def _same(text: str) -> str:
    return " ".join(text.casefold().split())
