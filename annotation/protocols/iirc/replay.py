"""Real work, read from public files, typed once more into the pages it was made for."""

import random
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from annotation.protocols.iirc.checks import telling
from annotation.protocols.iirc.official_files import (
    MAIN,
    NONE,
    QUESTION,
    Answer,
    LayoutError,
    Link,
    Passage,
    Question,
    Span,
    parse,
    read_passages,
)
from annotation.protocols.iirc.typed_work import Opener, answer, plain, write
from tasks.simulation.simulated_contract import RealWork

FILLER = "·"
# Beyond this an article would be mostly filler.
MOST_CHARACTERS = 200_000


class Documents:
    """What one question's answer may quote: question, paragraph, and articles opened on demand."""

    def __init__(self, item: Mapping[str, Any], open_article: Any) -> None:
        self._item, self._open = item, open_article
        self._texts = {MAIN: item["passage"]["text"], QUESTION: item["question"]}
        titles = [link["title"] for link in item["passage"]["links"]]
        self._linked = set(titles)
        # Official files write the article of an answer in lower case.
        self._titles = {title.casefold(): title for title in reversed(titles)}

    def text(self, name: str) -> str | None:
        """Return a document's text, None for an article that cannot be opened."""
        if name not in self._texts:
            page = self._open(self._item["id"], name) if name in self._linked else None
            self._texts[name] = joined(page) if page else ""
        return self._texts[name] or None

    def name(self, written: str) -> str:
        """Return a document's name as the page has it."""
        if written in self._linked:
            return written
        if written.casefold() in (MAIN, QUESTION):
            return written.casefold()
        return self._titles.get(written.casefold(), written)

    def span(self, written: str, text: str, start: int, end: int) -> dict[str, Any] | None:
        """Return the span as the page sends it: where it is said to be, else where it stands."""
        name = self.name(written)
        document = self.text(name)
        if document is None or not text.strip():
            return None
        if not (0 <= start < end and document[start:end] == text):
            start = document.find(text)
            end = start + len(text)
        return {"document": name, "start": start, "end": end} if start >= 0 else None


def joined(page: Mapping[str, Any]) -> str:
    """Return an opened article's text, in which its paragraphs stand at their places."""
    text = ""
    for section in page["sections"]:
        for paragraph in section["paragraphs"]:
            text = text.ljust(paragraph["start"]) + paragraph["text"]
    return text


def laid_out(pieces: Iterable[tuple[int, str]]) -> list[str]:
    """Return paragraphs that, joined by newlines, have each piece at its place where it can be.

    pieces: (start, text); one whose place is taken by other words comes after all others.
    """
    letters: dict[int, str] = {}
    homeless = []
    for start, text in sorted(set(pieces), key=lambda piece: (-len(piece[1]), piece)):
        places = range(start, start + len(text))
        fits = start >= 0 and start + len(text) <= MOST_CHARACTERS
        if fits and all(
            letters.get(at, letter) == letter for at, letter in zip(places, text, strict=True)
        ):
            letters.update(zip(places, text, strict=True))
        else:
            homeless.append(text)
    laid = _gaps_filled(letters)
    homeless = [text for text in homeless if text not in laid]
    return [*(laid.split("\n") if laid else []), *(" ".join(text.split("\n")) for text in homeless)]


def _gaps_filled(letters: Mapping[int, str]) -> str:
    text = ""
    for at in sorted(letters):
        gap = at - len(text)
        if gap:
            text += " " if gap == 1 else f" {FILLER * (gap - 2)} "
        text += letters[at]
    return text


def typed(question: Question, item: Mapping[str, Any]) -> dict[str, Any]:
    """Return a question as the page sends it; item: the paragraph as the page has it.

    Its evidence is the sentence that is likeliest where the file does not say which it is.
    """
    own = [one for one in question.evidence if one.passage == MAIN and 0 <= one.start < one.end]
    spans = [(one.start, one.end) for one in own] or [_likeliest(question.text, item)]
    linked = [link["title"] for link in item["links"]]
    titles = {title.casefold(): title for title in reversed(linked)}
    titles |= {title: title for title in linked}
    found = (titles.get(title, titles.get(title.casefold())) for title in question.question_links)
    return {
        "item": item["id"],
        "text": question.text,
        "context": [
            {"start": start, "end": end}
            for start, end in spans or [_likeliest(question.text, item)]
        ],
        "links": [title for title in found if title],
    }


def answered(question: Question, item: Mapping[str, Any], documents: Documents) -> dict[str, Any]:
    """Return the answer as the page sends it; item: the question as the page has it."""
    given = question.answer
    answer: dict[str, Any] = {"type": given.type}
    if given.type == "span":
        answer["spans"] = _found(given.spans, documents)
    elif given.type == "value":
        answer |= {"value": given.value, "unit": given.unit}
    elif given.type == "binary":
        answer["yes_no"] = given.value.casefold()
    if given.type != NONE:
        own = [{"document": MAIN, **span} for span in item["writer_context"]]
        marked = _found(question.evidence, documents)
        has_own = any(span.passage == MAIN for span in question.evidence)
        places = [{name: span[name] for name in ("document", "start", "end")} for span in own]
        answer["context"] = marked if has_own else [*places, *marked]
    return answer


def _quoted(passage: Passage, title: str) -> list[tuple[int, str]]:
    """Return what a passage's questions quote of a linked article's text: (start, text)."""
    return [
        (span.start, span.text)
        for question in passage.questions
        for span in (*question.evidence, *question.answer.spans)
        if span.passage.casefold() == title.casefold() not in (MAIN, QUESTION)
    ]


def _found(marked: Sequence[Span], documents: Documents) -> list[dict[str, Any]]:
    spans = [documents.span(one.passage, one.text, one.start, one.end) for one in marked]
    return [span for span in spans if span]


def _likeliest(question: str, item: Mapping[str, Any]) -> tuple[int, int]:
    """Return the sentence of the paragraph that shares most words with the question."""
    asked, text = telling(question), item["text"]
    spans = [(start, end) for start, end in item["sentences"] if text[start:end].strip()]
    spans = spans or [(0, len(text))]
    return max(spans, key=lambda span: len(asked & telling(text[slice(*span)])))


# What a linked article has of its text, by its title.
Texts = Mapping[str, tuple[str, ...]]
# Of words whose place the file does not tell.
NOWHERE = (-1, -1)
KNOWN_TYPES = ("span", "value", "binary", "none")
WORD = re.compile(r"\w[\w'’-]*")
NUMBER = re.compile(r"[-−]?\d[\d,]*(?:\.\d+)?")


def passages_of(name: str, content: bytes) -> tuple[Passage, ...]:
    """Return the passages that have questions; raises LayoutError naming file and question."""
    # The official text ends in a newline, which no paragraph of a corpus has.
    found = tuple(
        replace(passage, text=passage.text.rstrip())
        for passage in read_passages(name, content)
        if passage.questions
    )
    for passage in found:
        for question in passage.questions:
            if question.answer.type not in KNOWN_TYPES:
                raise LayoutError(
                    f"{name}: question {question.qid} has the answer type "
                    f"{question.answer.type!r}; known: {', '.join(KNOWN_TYPES)}."
                )
    if not found:
        raise LayoutError(f"{name}: there are no questions in it.")
    return found


def rewritten(raw: Mapping[str, Any], name: str) -> tuple[Passage, Texts]:
    """Return one item, {"main_title", "main_paragraph", "question", "answer", "context"}.

    With it the paragraphs that the file has of linked articles, by title.

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
    found, evidence = _answer(asked, answer, text, articles)
    holding = [span.passage for span in evidence if span.passage in articles]
    named = sorted(articles, key=lambda one: -len(telling(one) & telling(asked)))
    links = tuple(dict.fromkeys(holding or named[:1]))
    question = Question(None, asked, links, evidence, found)
    return Passage("", title, text, _links(text, list(articles)), (question,)), articles


def _answer(
    asked: str, answer: str, text: str, articles: dict[str, tuple[str, ...]]
) -> tuple[Answer, tuple[Span, ...]]:
    """Return the answer by type, and the sentence that proves it where an article has it."""
    whole = re.compile(rf"(?<!\w){re.escape(answer)}(?!\w)")
    # An answer in the singular may stand in its article in the plural alone.
    for pattern in (whole, re.compile(rf"(?<!\w){re.escape(answer)}")):
        for title, paragraphs in articles.items():
            for paragraph in paragraphs:
                if match := pattern.search(paragraph):
                    sentence = Span(title, _around(paragraph, *match.span()), *NOWHERE)
                    return Answer("span", (Span(title, answer, *NOWHERE),)), (sentence,)
    if NUMBER.fullmatch(answer):
        unit = re.search(r"how many (\w+)", asked.casefold())
        return Answer("value", value=answer, unit=unit[1] if unit else ""), ()
    if answer.casefold() in ("yes", "no"):
        return Answer("binary", value=answer), ()
    for document, words in ((QUESTION, asked), (MAIN, text)):
        if whole.search(words):
            return Answer("span", (Span(document, answer, *NOWHERE),)), ()
    # It stands nowhere in what was published: the article it names gets it as a line of its own.
    title = max(articles, key=lambda one: (answer in one, len(telling(one) & telling(asked))))
    articles[title] = (*articles[title], answer)
    span = Span(title, answer, *NOWHERE)
    return Answer("span", (span,)), (span,)


def _around(paragraph: str, start: int, end: int) -> str:
    """Return the sentence of the paragraph that holds the piece from `start` to `end`."""
    before = [match.end() for match in re.finditer(r"[.!?]\s+(?=[A-Z])", paragraph)]
    first = max([at for at in before if at <= start], default=0)
    last = min([at for at in before if at >= end], default=len(paragraph))
    return paragraph[first:last].strip()


def _links(text: str, titles: Sequence[str]) -> tuple[Link, ...]:
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
    return tuple(Link(title, start, end) for start, end, title in sorted(taken))


def _places(text: str, name: str) -> list[tuple[int, int]]:
    if not telling(name):
        return []
    pattern = rf"(?<!\w){re.escape(name)}(?!\w)"
    return [match.span() for match in re.finditer(pattern, text, re.IGNORECASE)]


# A HIT of more questions than this is no page that anybody could have worked on.
MOST_QUESTIONS = 100
MISSING = "(The file holds no text of this article.)"
LAX = {
    "seeds.min_links": 1,
    "seeds.min_links_in_corpus": 0,
    "seeds.min_characters": 0,
    "seeds.max_characters": 1_000_000,
    "question.requires": "",
    "answer.requires": "",
    "question_qualification.multi_link_questions": 0,
    "question.multi_link_questions": 0,
    "checks.min_question_words": 1,
    "checks.max_question_characters": 100_000,
    "checks.max_answer_spans": 1000,
    "checks.max_evidence_spans": 1000,
}


@dataclass(frozen=True)
class Replay(RealWork):
    """The work in one file; `exact` tells that the file holds all of it, nothing is added."""

    passages: tuple[Passage, ...]
    exact: bool
    articles: tuple[Texts, ...] = ()
    stages = ("question", "answer")

    @property
    def n_seeds(self) -> int:
        """Return how many passages there are."""
        return len(self.passages)

    def kinds_of(self, number: int) -> tuple[str, ...]:
        """Return the kinds of stages that worker `number` works on, counted from 0.

        A small crowd is not stopped by what each of them has written.
        """
        return (self.stages[number % 2],)

    def cost_cents(self, parameters: Any) -> int:
        """Return an ample budget."""
        rewards = (parameters.stages()[name].reward_cents for name in self.stages)
        return 2 * sum(rewards) * self.n_seeds

    def overrides(self) -> dict[str, Any]:
        """Return the parameters of a collection whose HITs ask for what the file holds, once.

        Raises ValueError where the passages cannot be shared out to equal HITs.
        """
        counts = {len(passage.questions) for passage in self.passages}
        total = sum(len(passage.questions) for passage in self.passages)
        per_hit, size = (1, counts.pop()) if len(counts) == 1 else (self.n_seeds, total)
        if size > MOST_QUESTIONS:
            raise ValueError(
                f"The passages hold different numbers of questions, {total} in all: "
                f"replay passages with {MOST_QUESTIONS} questions at most at a time."
            )
        sizes = {"question.items_per_hit": per_hit, "question.questions_per_hit": size}
        once = {
            f"{stage}.redundancy.{fold}": 1
            for stage in ("question", "answer")
            for fold in ("train", "dev", "test")
        }
        return {**LAX, **sizes, **once}

    def pages(self) -> list[tuple[str, list[tuple[str, str, list[list[Any]]]]]]:
        """Return the corpus: (title, paragraphs), each without heading, a text, its links.

        Passages come with their links; of a linked article what the file quotes, at the places
        where the file says it stands, the gaps filled with dots.
        """
        merged: dict[str, list[tuple[str, str, list[list[Any]]]]] = {}
        quoted: dict[str, list[tuple[int, str]]] = {}
        for passage in self.passages:
            links = [[link.start, link.end, link.target] for link in passage.links]
            merged.setdefault(passage.title, []).append(("", passage.text, links))
            for link in passage.links:
                quoted.setdefault(link.target, []).extend(_quoted(passage, link.target))
        for texts in self.articles:
            for title, paragraphs in texts.items():
                if title in quoted:
                    quoted[title].append((0, "\n".join(paragraphs)))
        for title, pieces in quoted.items():
            if title not in merged:
                merged[title] = [("", text, []) for text in laid_out(pieces) or [MISSING]]
        return list(merged.items())

    def fill(
        self, page: Mapping[str, Any], behaviour: Any, rng: random.Random, open_article: Opener
    ) -> tuple[dict[str, Any], bool]:
        """Return the page's data, and whether all of it is real; the rest is simulated."""
        if page["kind"] == "question":
            real = [
                typed(question, item)
                for item in page["items"]
                for question in self._questions_on(item)
            ][: page["limits"]["questions"]]
            added = write(page, behaviour, rng, real)
            return {"questions": [*real, *added]}, self.exact and not added
        answers: list[dict[str, Any]] = []
        all_real = self.exact
        for item in page["items"]:
            question = self._question(item)
            if question is None:
                all_real = False
                answers.append(answer(item, behaviour, rng, open_article))
            else:
                documents = Documents(item, open_article)
                answers.append({"item": item["id"], **answered(question, item, documents)})
        return {"answers": answers}, all_real

    def _questions_on(self, item: Mapping[str, Any]) -> Sequence[Question]:
        text = item["text"].strip()
        return [
            question
            for passage in self.passages
            if passage.text.strip() == text
            for question in passage.questions
        ]

    def _question(self, item: Mapping[str, Any]) -> Question | None:
        asked = " ".join(item["question"].split())
        for question in self._questions_on(item["passage"]):
            if " ".join(question.text.split()) == asked:
                return question
        return None


def replay(path: Path) -> Replay:
    """Return the replay of an official file, or of one that quotes questions with paragraphs.

    Raises LayoutError, a ValueError, naming the file for anything else.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise LayoutError(f"{path}: it cannot be read ({error.strerror}).") from None
    found = parse(path.name, content)
    if not isinstance(found, list) or not found or not all(isinstance(one, dict) for one in found):
        raise LayoutError(f"{path.name}: it must be a list of passages with their questions.")
    if all("main_paragraph" in one for one in found):
        passages, articles = zip(*(rewritten(one, path.name) for one in found), strict=True)
        return Replay(passages, exact=False, articles=articles)
    return Replay(passages_of(path.name, content), exact=True)
