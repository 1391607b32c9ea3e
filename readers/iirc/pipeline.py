"""The whole baseline: links, contexts, reader; also with gold links or contexts (IIRC 4.2, T3)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import log_softmax

from annotation.metrics.drop import global_scores, score_question
from annotation.protocols.iirc.official_files import MAIN, NONE
from readers.iirc.questions import Asked, read_linked, read_questions, write_answers
from readers.iirc.retrieval import CONTEXTS, Context, Retrieval
from readers.learners.encoder import Encoder, Pieces, Window, load_encoder
from readers.learners.heads import (
    AnswerTypeHead,
    NumberHead,
    SpanHead,
    arithmetic,
    best_number,
    best_spans,
    number_of,
    numbers_in,
    sign_log_likelihood,
    span_log_likelihood,
    written,
)
from readers.trainer.recipe import Recipe
from readers.trainer.run import Run

SPAN, QUESTION, NUMBER, COUNT, YES, NO = "span", "question", "number", "count", "yes", "no"
TYPES = (SPAN, QUESTION, NUMBER, COUNT, YES, NO, NONE)
# Ways to a number that are learned from at most.
MOST_WAYS = 100


@dataclass(frozen=True)
class Limits:
    """Bounds of what the reader reads and answers.

    positions: of an input; what is behind is cut off. answer_tokens: of a span. numbers: added up
    or subtracted at most. most_counted: the greatest number it counts to.
    """

    positions: int = 512
    answer_tokens: int = 30
    numbers: int = 2
    most_counted: int = 9


@dataclass(frozen=True)
class Ways:
    """Every way to the right answer of an item.

    spans, question_spans: first and last positions in the input. signs: of each number of the
    contexts. count: what is to be counted. types: those that lead to the answer.
    """

    spans: tuple[tuple[int, int], ...] = ()
    question_spans: tuple[tuple[int, int], ...] = ()
    signs: tuple[tuple[int, ...], ...] = ()
    count: int | None = None
    types: frozenset[str] = frozenset()


@dataclass(frozen=True)
class ReaderItem:
    """One question with its contexts in one input.

    values, places: the numbers of the contexts, and their first positions in the input.
    """

    asked: Asked
    text: str
    window: Window
    question_offsets: tuple[tuple[int, int], ...]
    values: tuple[Decimal, ...]
    places: tuple[int, ...]
    ways: Ways

    def said(self, first: int, last: int) -> str:
        """Return the words of the contexts at these positions of the input."""
        start, end = self.window.characters(first, last)
        return self.text[start:end]

    def asked_with(self, first: int, last: int) -> str:
        """Return the words of the question at these positions of the input."""
        begin, _ = self.window.question
        offsets = self.question_offsets
        return self.asked.text[offsets[first - begin][0] : offsets[last - begin][1]]


class Scores(NamedTuple):
    """The logits of one item: by position, by type, by number and by count."""

    start: Tensor
    end: Tensor
    question_start: Tensor
    question_end: Tensor
    types: Tensor
    signs: Tensor
    count: Tensor


class ReaderModel(nn.Module):
    """A head for each kind of answer on one encoder."""

    def __init__(self, encoder: Encoder, most_counted: int) -> None:
        super().__init__()
        self.encoder = encoder
        self.span, self.question = SpanHead(encoder.width), SpanHead(encoder.width)
        self.types = AnswerTypeHead(encoder.width, TYPES)
        self.numbers = NumberHead(encoder.width, most_counted)

    def forward(self, items: Sequence[ReaderItem]) -> list[Scores]:
        """Return the scores of each item."""
        states = self.encoder([item.window for item in items])
        context, question = torch.zeros(2, *states.shape[:2], device=states.device).bool()
        for row, item in enumerate(items):
            begin, length = item.window.question
            question[row, begin : begin + length] = True
            for place, (start, end) in enumerate(item.window.offsets, start=item.window.begin):
                context[row, place] = start < end
        start, end = self.span(states, context)
        question_start, question_end = self.question(states, question)
        types = self.types(states[:, 0])
        return [
            Scores(
                start[row],
                end[row],
                question_start[row],
                question_end[row],
                types[row],
                *self.numbers(states[row], states[row, 0], item.places),
            )
            for row, item in enumerate(items)
        ]


class ReaderLearner:
    """Learns all ways to the right answers; its dev metric is the official F1."""

    def __init__(self, encoder: Encoder, limits: Limits) -> None:
        self.model, self.limits = ReaderModel(encoder, limits.most_counted), limits

    def loss(self, items: Sequence[ReaderItem]) -> Tensor:
        """Return the mean over the questions of minus the log of the right answer's likelihood.

        A question that no way answers teaches nothing.
        """
        losses = [
            -torch.stack(list(_likelihoods(item, scores))).logsumexp(0)
            for item, scores in zip(items, self.model(items), strict=True)
            if item.ways.types
        ]
        return torch.stack(losses).mean() if losses else self.model.types.linear.bias.sum() * 0

    def answers(self, items: Sequence[ReaderItem]) -> list[str]:
        """Return each question's answer as the official scorer takes it."""
        return [
            _answer(item, scores, self.limits)
            for item, scores in zip(items, self.model(items), strict=True)
        ]

    def score(self, items: Sequence[ReaderItem], answers: Sequence[str]) -> float:
        """Return the official F1 in 0..1."""
        scores = [
            score_question(item.asked.gold, answer)
            for item, answer in zip(items, answers, strict=True)
        ]
        return global_scores(scores)["global_f1"]

    def length(self, item: ReaderItem) -> int:
        """Return how many positions the input has."""
        return len(item.window.ids)


def _likelihoods(item: ReaderItem, scores: Scores) -> Iterator[Tensor]:
    """Yield the log-likelihood of the right answer by each type that leads to it."""
    likely, ways = log_softmax(scores.types, -1), item.ways
    for name in TYPES:
        if name not in ways.types:
            continue
        by_type = likely[TYPES.index(name)]
        if name == SPAN:
            yield by_type + span_log_likelihood(scores.start, scores.end, ways.spans)
        elif name == QUESTION:
            start, end = scores.question_start, scores.question_end
            yield by_type + span_log_likelihood(start, end, ways.question_spans)
        elif name == NUMBER:
            yield by_type + sign_log_likelihood(scores.signs, ways.signs)
        elif name == COUNT:
            yield by_type + log_softmax(scores.count, -1)[ways.count]
        else:
            yield by_type


def _answer(item: ReaderItem, scores: Scores, limits: Limits) -> str:
    """Return the answer of the likeliest type that has one."""
    for index in scores.types.argsort(descending=True).tolist():
        found = _of_type(TYPES[index], item, scores, limits)
        if found is not None:
            return found
    return NONE


def _of_type(name: str, item: ReaderItem, scores: Scores, limits: Limits) -> str | None:
    """Return the best answer of one type; None where there is none."""
    if name == SPAN:
        best = best_spans(scores.start, scores.end, longest=limits.answer_tokens)
        return item.said(best[0].first, best[0].last) if best else None
    if name == QUESTION:
        start, end = scores.question_start, scores.question_end
        best = best_spans(start, end, longest=limits.answer_tokens)
        return item.asked_with(best[0].first, best[0].last) if best else None
    if name == NUMBER:
        number = best_number(scores.signs, item.values)
        return None if number is None else written(number)
    return str(int(scores.count.argmax())) if name == COUNT else name


def reader_item(
    encoder: Encoder, asked: Asked, contexts: Sequence[Context], limits: Limits
) -> ReaderItem:
    """Return a question with its contexts as the reader sees them."""
    question = encoder.pieces(asked.text)
    text, pieces = _joined(encoder, contexts)
    window = encoder.windows(question, pieces, limits.positions, limits.positions)[0]
    question = question.cut(0, window.question[1])
    found = [(each.value, window.span(each.start, each.end)) for each in numbers_in(text)]
    held = [(value, place[0]) for value, place in found if place]
    values = tuple(value for value, _ in held)
    ways = _ways(asked, text, window, question, values, limits)
    places = tuple(place for _, place in held)
    return ReaderItem(asked, text, window, question.offsets, values, places, ways)


def _joined(encoder: Encoder, contexts: Sequence[Context]) -> tuple[str, Pieces]:
    """Return the contexts as one text, and its pieces with a separator between contexts."""
    text = ""
    ids: list[int] = []
    offsets: list[tuple[int, int]] = []
    for context in contexts:
        if text:
            ids.append(encoder.separator)
            offsets.append((len(text), len(text)))
            text += "\n"
        pieces = encoder.pieces(context.text)
        ids += pieces.ids
        offsets += [(start + len(text), end + len(text)) for start, end in pieces.offsets]
        text += context.text
    return text, Pieces(tuple(ids), tuple(offsets))


def _ways(
    asked: Asked,
    text: str,
    window: Window,
    question: Pieces,
    values: Sequence[Decimal],
    limits: Limits,
) -> Ways:
    """Return every way to the right answer; none where the file does not tell it."""
    if asked.type == "span":
        return _ways_to_spans(asked, text, window, question)
    if asked.type == "value":
        return _ways_to_number(asked, values, limits)
    if asked.type == "binary":
        said = {answer.strip().lower() for answer in asked.answers}
        return Ways(types=frozenset(said & {YES, NO}))
    return Ways(types=frozenset({NONE} if asked.type == NONE else ()))


def _ways_to_spans(asked: Asked, text: str, window: Window, question: Pieces) -> Ways:
    spans: list[tuple[int, int]] = []
    question_spans: list[tuple[int, int]] = []
    begin, _ = window.question
    for answer in asked.answers:
        spans += filter(None, (window.span(*place) for place in occurrences(answer, text)))
        inside = (question.within(*place) for place in occurrences(answer, asked.text))
        question_spans += [(begin + span[0], begin + span[1]) for span in inside if span]
    found = {SPAN: spans, QUESTION: question_spans}
    types = frozenset(name for name, has in found.items() if has)
    return Ways(tuple(spans), tuple(question_spans), types=types)


def _ways_to_number(asked: Asked, values: Sequence[Decimal], limits: Limits) -> Ways:
    target = number_of(asked.answers[0])
    if target is None:
        return Ways()
    signs = arithmetic(values, target, most=limits.numbers, limit=MOST_WAYS)
    count = int(target) if target in range(limits.most_counted + 1) else None
    found = {NUMBER: bool(signs), COUNT: count is not None}
    types = frozenset(name for name, has in found.items() if has)
    return Ways(signs=tuple(signs), count=count, types=types)


def occurrences(answer: str, text: str) -> list[tuple[int, int]]:
    """Return where an answer's words stand in a text, in any case where never in their own."""
    for words, within in ((answer, text), (answer.lower(), text.lower())):
        found, at = [], within.find(words) if words.strip() else -1
        while at >= 0:
            found.append((at, at + len(words)))
            at = within.find(words, at + 1)
        # Lower case can be longer than what it is of.
        if found and len(within) == len(text):
            return found
    return []


READER = "reader"


def train(run: Run) -> None:
    """Train the three stages, answer the dev file and write its answers.

    settings["gold"]: what is gold when it answers: "links", "contexts" and their links, or nothing.
    Raises ReaderError in one line.
    """
    gold = run.settings.get("gold", "")
    questions = [] if run.only_answers else read_questions(run.train)
    dev = read_questions([run.dev])
    retrieval = Retrieval.of(run, read_linked([*run.train, run.dev]))
    measured = [] if run.only_answers else dev
    # Looked for now: one that is nowhere is told before anything is trained.
    encoder = run.encoder_of(READER)
    retrieval.fit(questions, measured)
    reader = ReaderLearner(load_encoder(encoder), limits_of(run.recipe.of(READER)))
    items = [_items(reader, of, learned_contexts(retrieval, of)) for of in (questions, measured)]
    run.note(questions_without_a_way=sum(not item.ways.types for item in items[0]))
    run.fit(reader, items[0], items[1], stage=READER)

    links = [asked.documents for asked in dev]
    # Gold contexts are those of gold links: the paper's row has both.
    if not gold:
        links = retrieval.predicted_links(dev)
        run.note(links=retrieval.links_agreement(dev, links)._asdict())
    contexts = retrieval.predicted_contexts(dev, links)
    if gold == CONTEXTS:
        contexts = [evidence_of(asked) or found for asked, found in zip(dev, contexts, strict=True)]
    answers = run.answers(reader, _items(reader, dev, contexts))
    write_answers(run.predictions, dict(zip((asked.key for asked in dev), answers, strict=True)))


def limits_of(recipe: Recipe) -> Limits:
    """Return what a recipe has the reader read and answer."""
    return Limits(
        positions=recipe.integer("positions"),
        answer_tokens=recipe.integer("answer_tokens"),
        numbers=recipe.integer("arithmetic_numbers"),
        most_counted=recipe.integer("most_counted"),
    )


def evidence_of(asked: Asked) -> list[Context]:
    """Return the gold contexts: the evidence, of the passage first; none where there is none."""
    ordered = sorted(asked.evidence, key=lambda span: span.passage != MAIN)
    return [Context(span.passage, span.text, span.start, span.end) for span in ordered]


def learned_contexts(retrieval: Retrieval, questions: Sequence[Asked]) -> list[list[Context]]:
    """Return what the reader learns from: gold contexts, and predicted ones where there are none.

    Questions without an answer have no evidence (IIRC 3.2.3).
    """
    # By position: ids are of one file, and several may be learned from.
    learned = [[] if asked.type == NONE else evidence_of(asked) for asked in questions]
    without = [asked for asked, gold in zip(questions, learned, strict=True) if not gold]
    links = retrieval.predicted_links(without) if without else []
    predicted = iter(retrieval.predicted_contexts(without, links))
    return [gold or next(predicted) for gold in learned]


def _items(
    reader: ReaderLearner, questions: Sequence[Asked], contexts: Sequence[Sequence[Context]]
) -> list[ReaderItem]:
    encoder = reader.model.encoder
    return [
        reader_item(encoder, asked, of, reader.limits)
        for asked, of in zip(questions, contexts, strict=True)
    ]
