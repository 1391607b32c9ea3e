"""Reads the official layout, or questions with paragraph and answer alone, as work to do again."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from annotation.protocols.iirc import dataset_tree
from annotation.protocols.iirc.checks import telling
from annotation.protocols.iirc.dataset_tree import LayoutError
from annotation.protocols.iirc.parsing import read_passages
from annotation.protocols.iirc.simulation.real_work import Answer, Passage, Question, Quotation
from annotation.protocols.iirc.simulation.writing import plain

KNOWN_TYPES = ("span", "value", "binary", "none")
WORD = re.compile(r"\w[\w'’-]*")
NUMBER = re.compile(r"[-−]?\d[\d,]*(?:\.\d+)?")


def passages_of(name: str, content: bytes) -> tuple[Passage, ...]:
    """Return the passages that have questions; raises LayoutError naming file and question."""
    found = tuple(
        Passage(
            title=passage.title,
            # The official text ends in a newline, which no paragraph of a corpus has.
            text=passage.text.rstrip(),
            links=tuple((link.start, link.end, link.target) for link in passage.links),
            questions=tuple(_question(question, name) for question in passage.questions),
        )
        for passage in read_passages(name, content)
        if passage.questions
    )
    if not found:
        raise dataset_tree.LayoutError(f"{name}: there are no questions in it.")
    return found


def _question(question: dataset_tree.Question, name: str) -> Question:
    if question.answer.type not in KNOWN_TYPES:
        raise dataset_tree.LayoutError(
            f"{name}: question {question.qid} has the answer type {question.answer.type!r}; "
            f"known: {', '.join(KNOWN_TYPES)}."
        )
    evidence = tuple(_quotation(span) for span in question.evidence)
    return Question(
        text=question.text,
        links=question.question_links,
        answer=Answer(
            type=question.answer.type,
            spans=tuple(_quotation(span) for span in question.answer.spans),
            value=question.answer.value,
            unit=question.answer.unit,
            evidence=evidence,
        ),
        context=tuple(
            (span.start, span.end)
            for span in question.evidence
            if span.passage == dataset_tree.MAIN and 0 <= span.start < span.end
        ),
    )


def _quotation(span: dataset_tree.Span) -> Quotation:
    return Quotation(span.passage, span.text, span.start, span.end)


def rewritten(raw: Mapping[str, Any], name: str) -> Passage:
    """Return one item: {"main_title", "main_paragraph", "question", "answer", "context"}.

    Which words of the paragraph are links, which links the writer picked, and the evidence are
    not in such a file. Raises LayoutError naming the file and the question.
    """
    try:
        title, text = str(raw["main_title"]), str(raw["main_paragraph"])
        asked, answer = str(raw["question"]), str(raw["answer"])
        articles: dict[str, tuple[str, ...]] = {}
        for piece in raw["context"]:
            earlier = articles.get(str(piece["title"]), ())
            articles[str(piece["title"])] = (*earlier, *str(piece["text"]).split("\n"))
    except (KeyError, TypeError) as error:
        raise LayoutError(f"{name}: an item lacks {error}: is this the right file?") from None
    articles.pop(title, None)
    if not articles or not WORD.search(text):
        raise LayoutError(f"{name}: {asked!r} comes without a linked article or a paragraph.")
    found = _answer(asked, answer, text, articles)
    holding = [span.document for span in found.evidence if span.document in articles]
    named = sorted(articles, key=lambda one: -len(telling(one) & telling(asked)))
    question = Question(text=asked, links=tuple(dict.fromkeys(holding or named[:1])), answer=found)
    return Passage(title, text, _links(text, list(articles)), (question,), articles)


def _answer(asked: str, answer: str, text: str, articles: dict[str, tuple[str, ...]]) -> Answer:
    whole = re.compile(rf"(?<!\w){re.escape(answer)}(?!\w)")
    # An answer in the singular may stand in its article in the plural alone.
    for pattern in (whole, re.compile(rf"(?<!\w){re.escape(answer)}")):
        for title, paragraphs in articles.items():
            for paragraph in paragraphs:
                if match := pattern.search(paragraph):
                    sentence = Quotation(title, _around(paragraph, *match.span()))
                    return Answer("span", (Quotation(title, answer),), evidence=(sentence,))
    if NUMBER.fullmatch(answer):
        unit = re.search(r"how many (\w+)", asked.casefold())
        return Answer("value", value=answer, unit=unit[1] if unit else "")
    if answer.casefold() in ("yes", "no"):
        return Answer("binary", value=answer)
    for document, words in (("question", asked), ("main", text)):
        if whole.search(words):
            return Answer("span", (Quotation(document, answer),))
    # It stands nowhere in what was published: the article it names gets it as a line of its own.
    title = max(articles, key=lambda one: (answer in one, len(telling(one) & telling(asked))))
    articles[title] = (*articles[title], answer)
    quotation = Quotation(title, answer)
    return Answer("span", (quotation,), evidence=(quotation,))


def _around(paragraph: str, start: int, end: int) -> str:
    """Return the sentence of the paragraph that holds the piece from `start` to `end`."""
    before = [match.end() for match in re.finditer(r"[.!?]\s+(?=[A-Z])", paragraph)]
    first = max([at for at in before if at <= start], default=0)
    last = min([at for at in before if at >= end], default=len(paragraph))
    return paragraph[first:last].strip()


def _links(text: str, titles: Sequence[str]) -> tuple[tuple[int, int, str], ...]:
    """Return a place in the text for each title: where it is named, else on a word of its own."""
    taken: list[tuple[int, int, str]] = []
    for title in sorted(titles, key=lambda one: plain(one) not in text):
        names = [title, plain(title), *reversed(WORD.findall(plain(title)))]
        places = [place for name in names for place in _places(text, name)]
        places += [match.span() for match in WORD.finditer(text) if len(match[0]) > 3]
        for start, end in places:
            if all(end <= other or start >= stop for other, stop, _ in taken):
                taken.append((start, end, title))
                break
    return tuple(sorted(taken))


def _places(text: str, name: str) -> list[tuple[int, int]]:
    if not telling(name):
        return []
    pattern = rf"(?<!\w){re.escape(name)}(?!\w)"
    return [match.span() for match in re.finditer(pattern, text, re.IGNORECASE)]
