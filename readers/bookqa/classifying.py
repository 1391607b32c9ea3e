"""RoBERTa tells the type of a question by its words, in cross-validation (Book QA 6.3).

Learns from labels.csv of a release. Each fold is tested once; another one, drawn, is its
development fold, the rest are learnt from: the folds are those of the light classifier.
"""

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import numpy
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from annotation.metrics.result import Result, ScoreError, read_file
from annotation.protocols.bookqa.question_labels import SCHEME
from annotation.protocols.bookqa.question_types import PAPER, folds_of, result_of
from readers.learners.encoder import Encoder, load_encoder
from readers.learners.heads import AnswerTypeHead
from readers.trained import ReaderError
from readers.trainer.run import Run

TYPE = "question_type"
TYPES = tuple(choice.value for choice in SCHEME.facet(TYPE).choices)


@dataclass(frozen=True)
class Typed:
    """A question with its type."""

    id: str
    question: str
    type: str


class TypeClassifier(nn.Module):
    """An encoder that tells a question's type by its first state."""

    def __init__(self, encoder: Encoder, dropout: float) -> None:
        """Take over an encoder."""
        super().__init__()
        self.encoder, self.dropout = encoder, nn.Dropout(dropout)
        self.head = AnswerTypeHead(encoder.width, TYPES)

    def forward(self, questions: Sequence[str]) -> Tensor:
        """Return logits float[questions, types]."""
        encoder = self.encoder
        room = encoder.longest - len(encoder.before) - len(encoder.after)
        windows = [encoder.window(None, encoder.pieces(one).cut(0, room)) for one in questions]
        logits: Tensor = self.head(self.dropout(encoder(windows)[:, 0]))
        return logits


class Classifier:
    """Learns the types of questions."""

    def __init__(self, model: TypeClassifier) -> None:
        """Take over a model."""
        self.model = model

    def loss(self, items: Sequence[Typed]) -> Tensor:
        """Return the mean cross-entropy of the types."""
        logits = self.model([one.question for one in items])
        wanted = [TYPES.index(one.type) for one in items]
        return cross_entropy(logits, torch.tensor(wanted, device=logits.device))

    def answers(self, items: Sequence[Typed]) -> list[str]:
        """Return the likeliest types."""
        logits = self.model([one.question for one in items])
        return [TYPES[place] for place in logits.argmax(dim=1).tolist()]

    def score(self, items: Sequence[Typed], answers: Sequence[str]) -> float:
        """Return the share that is right."""
        return fmean(one.type == answer for one, answer in zip(items, answers, strict=True))


def read_typed(paths: Sequence[Path]) -> list[Typed]:
    """Return the questions with a type of the labels.csv among the files; raises ReaderError."""
    for path in paths:
        try:
            rows = list(csv.DictReader(io.StringIO(read_file(path).decode("utf-8-sig"))))
        except (UnicodeDecodeError, csv.Error) as error:
            raise ScoreError(f"{path}: it is no CSV in UTF-8 ({error}).") from None
        if rows and {"id", "question", TYPE} <= rows[0].keys():
            found = [Typed(row["id"], row["question"], row[TYPE]) for row in rows if row[TYPE]]
            wrong = next((one for one in found if one.type not in TYPES), None)
            if wrong is not None:
                raise ReaderError(f"{path}: {wrong.id} has no type of the scheme: {wrong.type!r}.")
            return found
    raise ReaderError("--train: give labels.csv of a release, with questions and their types.")


def train(run: Run) -> None:
    """Train one classifier a fold, and write what each tells of its test fold's questions."""
    if run.only_answers:
        raise ReaderError("Cross-validation answers what it is trained on alone.")
    items = read_typed(run.train)
    n_folds = run.recipe.integer("folds")
    if len(items) < n_folds:
        raise ReaderError(f"{len(items)} questions have a type: too few for {n_folds} folds.")
    told: dict[str, str] = {}
    accuracies = []
    for number, places in enumerate(folds_of(len(items), n_folds, run.seed)):
        learnt, dev, test = ([items[place] for place in part] for part in places)
        model = TypeClassifier(load_encoder(run.encoder_of()), run.recipe.number("dropout"))
        learner = Classifier(model)
        run.fit(learner, learnt, dev, f"fold-{number}")
        # One model at a time: ten are too many to hold.
        said = [
            run.answers(learner, part, stage="", stand_in=[one.type for one in part])
            for part in (learnt, dev, test)
        ]
        parts = zip((learnt, dev), said, strict=False)
        accuracies.append([learner.score(part, answers) for part, answers in parts])
        told |= {one.id: answer for one, answer in zip(test, said[2], strict=True)}
    run.note(accuracies=accuracies)
    run.predictions.write_text(json.dumps(told, ensure_ascii=False, indent=1) + "\n", "utf-8")


def score(run: Run) -> Result:
    """Return the mean accuracies over folds, and who is taken for whom."""
    items = read_typed(run.train)
    told = json.loads(run.predictions.read_text("utf-8"))
    codes = numpy.array([TYPES.index(one.type) for one in items])
    folds = folds_of(len(items), run.recipe.integer("folds"), run.seed)
    given = run.facts["accuracies"]
    assert isinstance(given, list)
    reached = []
    for (_, _, test), of in zip(folds, given, strict=True):
        predicted = numpy.array([TYPES.index(told[items[place].id]) for place in test])
        reached.append(([*of, float((predicted == codes[test]).mean())], predicted))
    found = result_of(codes, TYPES, folds, reached)
    rows = [
        [name, str(len(items)), f"{100 * found.accuracies[name]:.2f}", f"{100 * paper:.2f}"]
        for name, paper in PAPER.items()
    ]
    return {
        "official": {f"accuracy, {name}": value for name, value in found.accuracies.items()},
        "groups": {},
        "columns": ["", "questions", "right %", "the paper's %"],
        "rows": rows,
        "notes": [f"Always the most frequent type: {100 * found.most_frequent:.2f} %."],
    }
