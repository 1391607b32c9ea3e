"""The whole baseline: links, contexts, reader; also with gold links or contexts (IIRC 4.2, T3)."""

from collections.abc import Sequence

from annotation.protocols.iirc.official_files import MAIN, NONE
from readers.iirc.contexts import Context
from readers.iirc.questions import (
    Asked,
    read_linked,
    read_questions,
    write_answers,
)
from readers.iirc.reader import (
    Limits,
    ReaderItem,
    ReaderLearner,
    reader_item,
)
from readers.iirc.retrieval import (
    CONTEXTS,
    Retrieval,
)
from readers.learners.encoder import load_encoder
from readers.trainer.recipe import Recipe
from readers.trainer.run import Run

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
