"""Rankers of passages that are trained: a BERT that tells evidence from other passages (4.2).

`training` in the settings names the stages, one after another: "ict", pseudo-questions of the
books' own sentences; "distant", distant supervision, and "unfiltered", the same without its filter
by ROUGE-L; "hard-em", in which a reader says which
passages the ranker is to learn as right. What is written is a ranking of all candidates, as
`rank_passages --ranking` reads it.
"""

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy

from annotation.metrics.result import Result
from annotation.protocols.bookqa.parameters import defaults
from annotation.protocols.bookqa.ranking import held, words
from annotation.protocols.bookqa.scoring import read_gold
from readers.bookqa.material import (
    DEV,
    TRAIN,
    Asked,
    Material,
    by_ranking,
    parted,
    read_material,
)
from readers.bookqa.writing import Reader, material_of
from readers.learners.encoder import Encoder, Window, load_encoder
from readers.learners.seq2seq import Limits, Writer, load_writer
from readers.trained import ReaderError
from readers.trainer.run import Run

ICT, DISTANT, UNFILTERED, HARD_EM = "ict", "distant", "unfiltered", "hard-em"
# What a line of distant supervision has of the passages that its filter left out.
LEFT_OUT = "left_out"


@dataclass(frozen=True)
class Pair:
    """A question and a passage, which is evidence or not."""

    question: str
    passage: str
    is_right: bool


@dataclass(frozen=True)
class Cloze:
    """A sentence, the passage it was taken from, and others of the book by their numbers."""

    question: str
    positive: str
    book: Sequence[str]
    negatives: Sequence[int]


Item = Pair | Cloze | Asked


class PassageRanker(nn.Module):
    """An encoder that scores question and passage by its first state."""

    def __init__(self, encoder: Encoder, size: int) -> None:
        """Take over an encoder; size: how many positions of question and passage it reads."""
        super().__init__()
        self.encoder, self.size = encoder, size
        self.head = nn.Linear(encoder.width, 1)

    def forward(self, pairs: Sequence[tuple[str, str]]) -> Tensor:
        """Return a logit float[pairs] of each passage being evidence for its question."""
        scores: Tensor = self.head(self.encoder([self._window(*pair) for pair in pairs])[:, 0])
        return scores.squeeze(1).float()

    def _window(self, question: str, passage: str) -> Window:
        encoder = self.encoder
        asked, text = encoder.pieces(question), encoder.pieces(passage)
        return encoder.windows(asked, text, self.size, self.size)[0]


class Ranking:
    """Learns from pairs or from pseudo-questions; asked, it puts a question's passages in order."""

    def __init__(self, model: PassageRanker, n_negatives: int = 0) -> None:
        """Take over a model; n_negatives: of how many each pseudo-question is told apart."""
        self.model, self.n_negatives = model, n_negatives

    def loss(self, items: Sequence[Item]) -> Tensor:
        """Return the mean loss: of a pair is it evidence, of a pseudo-question which passage."""
        pairs = [one for one in items if isinstance(one, Pair)]
        if pairs:
            right = [float(one.is_right) for one in pairs]
            logits = self.model([(one.question, one.passage) for one in pairs])
            return binary_cross_entropy_with_logits(logits, logits.new_tensor(right))
        rows = [(one.question, self._passages(one)) for one in items if isinstance(one, Cloze)]
        flat = [(question, passage) for question, passages in rows for passage in passages]
        scores = self.model(flat).split([len(passages) for _, passages in rows])
        first = torch.zeros(1, dtype=torch.long, device=scores[0].device)
        return torch.stack([cross_entropy(each[None], first) for each in scores]).mean()

    def answers(self, items: Sequence[Item]) -> list[list[int]]:
        """Return the passages of each question by their numbers, best first."""
        found = []
        for one in items:
            assert isinstance(one, Asked)
            scores = self.model([(one.question, passage) for passage in one.passages])
            order = scores.argsort(descending=True, stable=True).tolist()
            found.append([one.numbers[place] for place in order])
        return found

    def score(self, items: Sequence[Item], answers: Sequence[Sequence[int]]) -> float:
        """Return the mean ROUGE-L of the best span in the first passages (5.2, Table 2)."""
        most = defaults().ranking.selection_at
        asked = [one for one in items if isinstance(one, Asked)]
        pairs = zip(asked, answers, strict=True)
        return fmean(covered(one.ordered(order).first(most))[1] for one, order in pairs)

    def length(self, item: Item) -> int:
        """Return the characters that are read."""
        if isinstance(item, Pair):
            return len(item.question) + len(item.passage)
        if isinstance(item, Cloze):
            return len(item.question) + len(item.positive)
        return sum(map(len, item.passages))

    def _passages(self, one: Cloze) -> list[str]:
        """Return the right passage and some of the others, drawn anew each time."""
        number = min(self.n_negatives, len(one.negatives))
        return [one.positive, *(one.book[at] for at in random.sample(one.negatives, number))]


class Likelihood:
    """Tells how likely a reader is to answer a question from each of its passages alone."""

    def __init__(self, model: Writer) -> None:
        """Take over a reader's model."""
        self.model = model

    def loss(self, items: Sequence[Asked]) -> Tensor:
        """Refuse: the reader has learnt."""
        raise NotImplementedError

    def answers(self, items: Sequence[Asked]) -> list[list[float]]:
        """Return the log-likelihood of each question's likelier answer by passage."""
        found = []
        for one in items:
            texts = [[(one.question, passage)] for passage in one.passages]
            each = [
                self.model.log_likelihoods(texts, [answer] * len(texts)) for answer in one.answers
            ]
            found.append(torch.stack(each).amax(dim=0).tolist())
        return found

    def score(self, items: Sequence[Asked], answers: Sequence[Sequence[float]]) -> float:
        """Return the mean log-likelihood of the likeliest passage."""
        return fmean(max(each) for each in answers)


def covered(one: Asked) -> tuple[bool, float]:
    """Return whether an answer stands in the passages, and ROUGE-L of their best span."""
    answers = [words(answer) for answer in one.answers]
    each = [held(words(passage), answers) for passage in one.passages]
    is_there = any(found.is_there for found in each)
    return is_there, max((found.rouge_l for found in each), default=0.0)


def train(run: Run) -> None:
    """Train the ranker that the run names, and write the order of every question's passages."""
    material = material_of(run)
    asked = material.about_stories()
    learnt, dev = parted(asked, read_gold(run.dev, DEV), run.dev)
    recipe, stages = run.recipe, run.settings["training"]
    assert isinstance(stages, tuple)
    model = PassageRanker(load_encoder(run.encoder_of()), recipe.integer("window"))
    ranking = Ranking(model, recipe.integer("cloze_negatives"))
    # Looked for now: one that is nowhere is told before anything is trained.
    readers = _readers(run) if HARD_EM in stages else []
    for stage in stages:
        if stage == ICT:
            run.fit(ranking, cloze_items(material, learnt), dev, ICT)
        elif stage in (DISTANT, UNFILTERED):
            items = supervised_items(material, learnt, filtered=stage == DISTANT)
            run.fit(ranking, items, dev, stage)
        else:
            _hard_em(run, ranking, readers, learnt, dev)
    orders = run.answers(ranking, asked)
    lines = [
        json.dumps({"id": one.id, "passages": order})
        for one, order in zip(asked, orders, strict=True)
    ]
    run.predictions.write_text("".join(f"{line}\n" for line in lines), "utf-8")


def score(run: Run) -> Result:
    """Return how much of the answers the first passages of the ranking hold (Table 2), 0 to 1."""
    material = read_material((*run.train, run.predictions))
    _, dev = parted(material.about_stories(), read_gold(run.dev, DEV), run.dev)
    official: dict[str, float] = {}
    for most in defaults().ranking.coverage_at:
        each = [covered(one.first(most)) for one in by_ranking(dev, material.rankings)]
        official[f"EM@{most}"] = fmean(is_there for is_there, _ in each)
        official[f"ROUGE_L@{most}"] = fmean(rouge_l for _, rouge_l in each)
    return {
        "official": official,
        "groups": {},
        "columns": ["", "questions", *(f"{name} %" for name in official)],
        "rows": [["all", str(len(dev)), *(f"{100 * value:.2f}" for value in official.values())]],
        "notes": ["EM: an answer stands in the first passages; ROUGE-L: their best span."],
    }


def supervised_items(
    material: Material, learnt: Sequence[Asked], *, filtered: bool = True
) -> list[Item]:
    """Return the labelled passages of the questions to learn from; raises ReaderError.

    filtered: without those that the filter by ROUGE-L has left out.
    """
    supervision = material.supervised()
    if not supervision:
        raise ReaderError("--train: give distant_supervision.jsonl, which rank_passages writes.")
    if not filtered and not all(LEFT_OUT in line for line in supervision):
        raise ReaderError(
            "distant_supervision.jsonl: it does not say what its filter left out; run "
            "rank_passages --out again."
        )
    asked = {one.id: one for one in learnt}
    items: list[Item] = []
    for line in supervision:
        if line["id"] in asked:
            one = asked[line["id"]]
            for key, is_right in (("positives", True), ("negatives", False)):
                numbers = line[key] if filtered else [*line[key], *line[LEFT_OUT][key]]
                passages = material.passages(one.document, numbers)
                items += [Pair(one.question, passage, is_right) for passage in passages]
    return items


def cloze_items(material: Material, learnt: Sequence[Asked]) -> list[Item]:
    """Return the pseudo-questions of the training questions' books; raises ReaderError."""
    if not material.cloze:
        raise ReaderError("--train: give inverse_cloze.jsonl, which rank_passages writes.")
    books = {one.document for one in learnt if one.set == TRAIN}
    return [
        Cloze(
            line["question"],
            line["positive"],
            material.checked(line["document_id"], line["negatives"]),
            line["negatives"],
        )
        for line in material.cloze
        if line["document_id"] in books and line["negatives"]
    ]


def _readers(run: Run) -> list[str]:
    """Return what the reader of each turn begins with: it writes, unlike what ranks."""
    turns = run.recipe.of(HARD_EM).integer("rounds")
    return [run.encoder_of(f"reader-{turn}", another_kind=True) for turn in range(1, turns + 1)]


def _hard_em(
    run: Run,
    ranking: Ranking,
    readers: Sequence[str],
    learnt: Sequence[Asked],
    dev: Sequence[Asked],
) -> None:
    """Train reader and ranker in turn: each passage that the reader answers best from is right.

    The reader learns from the ranker's first passages (E), the ranker from the passages that make
    the answers likeliest (M, equations 3 and 4).
    """
    recipe = run.recipe.of(HARD_EM)
    limits = Limits(recipe.integer("read_tokens"), recipe.integer("answer_tokens"))
    for turn, reader in enumerate(readers, start=1):
        learnt = _between(run, ranking, learnt)
        writer = load_writer(reader, limits)
        most = recipe.integer("passages")
        read, asked = ([one.first(most) for one in part] for part in (learnt, dev))
        run.fit(Reader(writer, fusion=False), read, asked, f"reader-{turn}")
        labelled = [] if run.only_answers else _likeliest(run, Likelihood(writer), learnt)
        run.fit(ranking, labelled, dev, f"{HARD_EM}-{turn}")


def _between(run: Run, ranking: Ranking, asked: Sequence[Asked]) -> list[Asked]:
    """Return the questions with their passages in the ranker's present order."""
    if run.only_answers:
        return list(asked)
    orders = run.answers(ranking, asked, stage="", stand_in=[list(one.numbers) for one in asked])
    return [one.ordered(order) for one, order in zip(asked, orders, strict=True)]


def _likeliest(run: Run, reader: Likelihood, asked: Sequence[Asked]) -> list[Item]:
    """Return each question with the passages its answer is likeliest from, and with others."""
    recipe = run.recipe.of(HARD_EM)
    most, wrong = recipe.integer("right"), recipe.integer("wrong")
    in_order = [[-float(at) for at in range(len(one.passages))] for one in asked]
    likely = run.answers(reader, asked, stage="", stand_in=in_order)
    rng = random.Random(f"{run.seed}:{HARD_EM}")
    items: list[Item] = []
    for one, each in zip(asked, likely, strict=True):
        order = sorted(range(len(each)), key=lambda place: -each[place])
        right, rest = order[:most], order[most:]
        drawn = rng.sample(rest, min(len(rest), wrong * len(right)))
        for places, is_right in ((right, True), (drawn, False)):
            items += [Pair(one.question, one.passages[place], is_right) for place in places]
    return items
