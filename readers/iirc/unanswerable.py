"""Detectors of unanswerable questions: a linear classifier on [CLS] (IIRC 4.3, T6)."""

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits

from annotation.protocols.iirc.official_files import MAIN, NONE
from readers.iirc.questions import (
    Asked,
    read_linked,
    read_questions,
    write_answers,
)
from readers.iirc.retrieval import Context, Retrieval, agreement
from readers.learners.encoder import Encoder, Window, load_encoder
from readers.trainer.run import Run

DETECTOR = "detector"
QUESTION, PASSAGE, CONTEXT = "question", "passage", "context"
# What is predicted of a question that is taken to have an answer: not which.
ANSWERABLE = ""


@dataclass(frozen=True)
class DetectorItem:
    """One question as the detector sees it, and whether it has no answer."""

    window: Window
    is_none: bool


class DetectorModel(nn.Module):
    """Scores the whole input by the state of [CLS]."""

    def __init__(self, encoder: Encoder) -> None:
        super().__init__()
        self.encoder = encoder
        self.classifier = nn.Linear(encoder.width, 1)

    def forward(self, items: Sequence[DetectorItem]) -> Tensor:
        """Return the logits of having no answer."""
        states = self.encoder([item.window for item in items])
        return self.classifier(states[:, 0]).squeeze(-1)


class DetectorLearner:
    """Learns by cross-entropy; its dev metric is F1 of the unanswerable questions."""

    def __init__(self, encoder: Encoder) -> None:
        self.model = DetectorModel(encoder)

    def loss(self, items: Sequence[DetectorItem]) -> Tensor:
        """Return the mean cross-entropy."""
        logits = self.model(items)
        labels = logits.new_tensor([float(item.is_none) for item in items])
        return binary_cross_entropy_with_logits(logits, labels)

    def answers(self, items: Sequence[DetectorItem]) -> list[bool]:
        """Return whether each question is taken to have no answer."""
        return (self.model(items) > 0).tolist()

    def score(self, items: Sequence[DetectorItem], answers: Sequence[bool]) -> float:
        """Return F1 in 0..1 of the unanswerable questions."""
        return agreement(
            [_set(item.is_none) for item in items], [_set(said) for said in answers]
        ).f1

    def length(self, item: DetectorItem) -> int:
        """Return how many positions the input has."""
        return len(item.window.ids)


def _set(is_none: bool) -> set[str]:
    return {NONE} if is_none else set()


def train(run: Run) -> None:
    """Train a detector, and write "none" for what it takes to be unanswerable.

    settings["sees"]: "question", or besides it the "passage", or the pipeline's "context", for
    which links and contexts are trained first. Raises ReaderError in one line.
    """
    sees = str(run.settings["sees"])
    questions = [] if run.only_answers else read_questions(run.train)
    dev = read_questions([run.dev])
    retrieval = None
    if sees == CONTEXT:
        retrieval = Retrieval.of(run, read_linked([*run.train, run.dev]))
        retrieval.fit(questions, [] if run.only_answers else dev)
    detector = DetectorLearner(load_encoder(run.encoder_of(DETECTOR)))
    positions = run.recipe.of(DETECTOR).integer("positions")
    items, asked_items = (
        [
            detector_item(detector.model.encoder, asked, contexts, positions)
            for asked, contexts in zip(of, seen_beside(retrieval, of, sees), strict=True)
        ]
        for of in (questions, dev)
    )
    run.fit(detector, items, asked_items, stage=DETECTOR)
    said = run.answers(detector, asked_items)
    answers = [NONE if none else ANSWERABLE for none in said]
    write_answers(run.predictions, dict(zip((asked.key for asked in dev), answers, strict=True)))


def seen_beside(
    retrieval: Retrieval | None, questions: Sequence[Asked], sees: str
) -> list[list[Context]]:
    """Return what is seen beside each question: nothing, the passage, or predicted contexts too."""
    if sees == QUESTION:
        return [[] for _ in questions]
    passages = [[Context(MAIN, asked.passage, 0, len(asked.passage))] for asked in questions]
    if retrieval is None or not questions:
        return passages
    found = retrieval.predicted_contexts(questions, retrieval.predicted_links(questions))
    return [
        passage + [context for context in of if context.document != MAIN]
        for passage, of in zip(passages, found, strict=True)
    ]


def detector_item(
    encoder: Encoder, asked: Asked, contexts: Sequence[Context], positions: int
) -> DetectorItem:
    """Return a question as the detector sees it: alone, or with texts that are cut at the end."""
    question = encoder.pieces(asked.text)
    text = encoder.pieces("\n".join(context.text for context in contexts))
    first, second = (question, text) if contexts else (None, question)
    window = encoder.windows(first, second, positions, positions)[0]
    return DetectorItem(window, asked.type == NONE)
