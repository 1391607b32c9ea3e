"""What plausible workers type, found by simple patterns, and how a requester judges it."""

import random
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from annotation.protocols.iirc import checks
from annotation.protocols.iirc.checks import telling
from tasks.simulation.behaviour import Behaviour
from tasks.work.widgets.evidence import is_inside_word

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


PROVEN = ("span", "value", "binary")
# What an answerer could mark without opening a linked article.
OWN = (MAIN, "question")
# One slip is forgiven; a second of the same kind is a habit.
MOST_SLIPS = 1


def inspect(
    kind: str,
    data: Mapping[str, Any],
    items: Sequence[Mapping[str, Any]],
    open_article: Opener,
) -> tuple[bool, str]:
    """Return whether to grant, and the note: the rule is visible in what was handed in.

    data: cleaned, as it was stored. Questions that are all one question, or that the page's hints
    advise against, are declined; so are marks that cut through words, answers that no linked
    article proves, and giving up where the linked articles tell the answer.
    """
    by_id = {item["id"]: item for item in items}
    found = list(
        _of_questions(data, by_id)
        if kind == "question"
        else _of_answers(data["answers"], by_id, open_article)
    )
    return (False, found[0]) if found else (True, "Does what the instructions ask.")


def _of_questions(data: Mapping[str, Any], items: Mapping[str, Any]) -> Iterator[str]:
    questions = data["questions"]
    if len({re.sub(r"\d+", "", one["text"].casefold()) for one in questions}) < len(questions):
        yield "The questions are one question, numbered: ask something different each time."
    marks = [
        (span, items[one["item"]]["text"]) for one in questions for span in one.get("context", ())
    ]
    if _n_cut(marks) > MOST_SLIPS:
        yield "The marks cut through words: mark whole words that the question needs."
    echoes = [one for one in questions if is_advised_against(one, items[one["item"]])]
    if len(echoes) > MOST_SLIPS:
        yield "Several questions ask only what the paragraph says, or nothing of it."


def _of_answers(
    given: Sequence[Mapping[str, Any]], items: Mapping[str, Any], open_article: Opener
) -> Iterator[str]:
    given_up = [items[one["item"]] for one in given if one["type"] == "none"]
    if sum(_has_answer(item, open_article) for item in given_up) > MOST_SLIPS:
        yield "Questions were given up that have an answer: open the linked articles and look."
    marks = [
        (span, items[one["item"]]["passage"]["text"])
        for one in given
        for span in _own_marks(one, items[one["item"]])
        if span["document"] == MAIN
    ]
    if _n_cut(marks) > MOST_SLIPS:
        yield "The marks cut through words: mark the answer and its evidence as whole words."
    unproven = [
        one
        for one in given
        if one["type"] in PROVEN
        and opened(items[one["item"]], open_article)
        and all(span["document"] in OWN for span in (*one["spans"], *one["context"]))
    ]
    if len(unproven) > MOST_SLIPS:
        yield "No linked article is marked: mark where the answer stands."


def _has_answer(item: Mapping[str, Any], open_article: Opener) -> bool:
    """Return whether a careful reader finds an answer where the question's writer pointed."""
    found, _ = find(item["question"], opened(item, open_article))
    return found["type"] != "none"


def _own_marks(one: Mapping[str, Any], item: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the spans that the answerer marked, without those taken over from the question."""
    given = {(span["start"], span["end"]) for span in item["writer_context"]}
    for span in (*one["spans"], *one["context"]):
        if span["document"] != MAIN or (span["start"], span["end"]) not in given:
            yield span


def _n_cut(marks: Iterable[tuple[Mapping[str, Any], str]]) -> int:
    """Return how many spans begin or end inside a word."""
    return sum(
        is_inside_word(text, span["start"]) or is_inside_word(text, span["end"])
        for span, text in marks
    )
