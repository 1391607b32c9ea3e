"""One run of BiDAF++: dialogs become batches, scores become predictions (QuAC 5.3)."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Literal, get_args

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from annotation.protocols.quac.scoring import Prediction, prediction_line
from annotation.protocols.quac.turns import read_turns, system_f1
from readers.learners.encoder import Encoder, Window, load_encoder
from readers.learners.layers import Windows, character_ids
from readers.learners.tokens import Token
from readers.learners.vocabulary import (
    Unknown,
    Vectors,
    Vocabulary,
    counted_vocabulary,
    file_vectors,
    random_vectors,
)
from readers.quac.dialogs import FOLLOWUP, YESNO, Asked, Dialog, dialogs_of, marks
from readers.quac.network import Batch, Bidaf, Scores, Sizes, Text
from readers.trainer.recipe import Recipe
from readers.trainer.run import Run
from readers.trainer.trainer import device

# best: the span with the highest sum of scores that is not too long. published: what the official
# code finds, which goes through the ends once with the best start so far: where that is too far
# away no older start is tried, and a span has one token more than the limit.
Decoding = Literal["best", "published"]


def best_span(start: Tensor, end: Tensor, longest: int, *, alone: bool = True) -> tuple[int, int]:
    """Return the (first, last) token of the best span of at most `longest` tokens, the first one.

    start, end: the scores of a text's tokens. alone: the last token, which stands for no answer,
    is in no span with others.
    """
    scores = start[:, None] + end[None, :]
    legal = torch.ones_like(scores, dtype=torch.bool).triu().tril(longest - 1)
    if alone:
        legal[:-1, -1] = False
    place = int(scores.masked_fill(~legal, -torch.inf).argmax())
    return divmod(place, len(end))


def published_span(start: Sequence[float], end: Sequence[float], longest: int) -> tuple[int, int]:
    """Return the (first, last) token that the official code finds, `longest` + 1 tokens at most."""
    best, score, first = (0, 0), -float("inf"), 0
    for last, (begins, ends) in enumerate(zip(start, end, strict=True)):
        if begins > start[first]:
            first = last
        if start[first] + ends > score and last - first <= longest:
            best, score = (first, last), start[first] + ends
    return best


def decoded(start: Tensor, end: Tensor, longest: int, decoding: Decoding) -> tuple[int, int]:
    """Return the (first, last) token of the answer."""
    if decoding == "published":
        return published_span(start.tolist(), end.tolist(), longest)
    return best_span(start, end, longest)


class States:
    """Gives each token the last layer's state of its first word piece.

    Long texts are read in windows of `size` positions, `stride` pieces apart; what stands in
    several of them is taken from where it has most on both sides. windows: how many are read at
    once.
    """

    def __init__(
        self, encoder: Encoder, size: int, stride: int, device: torch.device, windows: int = 16
    ) -> None:
        self.encoder = encoder.eval().requires_grad_(False).to(device)
        self.size, self.stride, self.windows = min(size, encoder.longest), stride, windows

    @property
    def width(self) -> int:
        """Return the number of features of a state."""
        return self.encoder.width

    def of(self, texts: Sequence[str], tokens: Sequence[Sequence[Token]]) -> Tensor:
        """Return (texts, tokens, width); zeros where there is no token, or no piece of it."""
        device = next(self.encoder.parameters()).device
        longest = max(len(each) for each in tokens)
        windows: list[Window] = []
        places: list[tuple[int, int, int, int]] = []
        for row, (text, found) in enumerate(zip(texts, tokens, strict=True)):
            pieces = self.encoder.pieces(text)
            first = len(windows)
            windows += self.encoder.windows(None, pieces, self.size, self.stride)
            ends = [end for _, end in pieces.offsets]
            for column, token in enumerate(found):
                piece = bisect_right(ends, token.start)
                if piece < len(pieces) and pieces.offsets[piece][0] < token.end:
                    window, position = _most_central(windows[first:], piece)
                    places.append((row, column, first + window, position))
        states = torch.zeros(len(texts), longest, self.width, device=device)
        if places:
            rows, columns, window_of, position_of = torch.tensor(places, device=device).unbind(-1)
            states[rows, columns] = self._read(windows)[window_of, position_of]
        return states

    @torch.no_grad()
    def _read(self, windows: Sequence[Window]) -> Tensor:
        """Return the states of all windows, (windows, longest, width)."""
        longest = max(len(window.ids) for window in windows)
        found = []
        for at in range(0, len(windows), self.windows):
            states = self.encoder(windows[at : at + self.windows]).float()
            short = longest - states.shape[1]
            found.append(torch.nn.functional.pad(states, (0, 0, 0, short)))
        return torch.cat(found)


def _most_central(windows: Sequence[Window], piece: int) -> tuple[int, int]:
    """Return which window has most on both sides of a piece of the text, and where it is there."""

    def around(window: Window) -> int:
        return min(piece - window.first, window.first + len(window.offsets) - 1 - piece)

    best = max(range(len(windows)), key=lambda at: around(windows[at]))
    return best, windows[best].begin + piece - windows[best].first


@dataclass
class BidafLearner:
    """Learns dialogs; an answer is the predictions for a dialog's questions, in order.

    vocabulary: of the words that have vectors, None where none has. states: of a pretrained
    encoder, which is not trained further, or None. longest: tokens of an answer at most.
    """

    model: Bidaf
    vocabulary: Vocabulary | None
    states: States | None
    longest: int
    decoding: Decoding = "best"

    def loss(self, items: Sequence[Dialog]) -> Tensor:
        """Return the mean over the questions of all dialogs."""
        batch = self.collate(items)
        return self.model.loss(self.model(batch), batch)

    def answers(self, items: Sequence[Dialog]) -> list[list[Prediction]]:
        """Return for each dialog what is answered to its questions."""
        # Sums of two scores are compared: not in half precision.
        scores = Scores(*(each.double().cpu() for each in self.model(self.collate(items))))
        rows = iter(range(len(scores.start)))
        return [
            [self._prediction(dialog, scores, next(rows)) for _ in dialog.asked] for dialog in items
        ]

    def score(self, items: Sequence[Dialog], answers: Sequence[Sequence[Prediction]]) -> float:
        """Return the mean of the official scorer's F1 over all questions, in percent."""
        scores = [
            system_f1(prediction.span, asked.turn.references)
            for dialog, given in zip(items, answers, strict=True)
            for asked, prediction in zip(dialog.asked, given, strict=True)
        ]
        return 100 * sum(scores) / len(scores)

    def length(self, item: Dialog) -> int:
        """Return the number of tokens of the section."""
        return len(item.tokens)

    def collate(self, dialogs: Sequence[Dialog]) -> Batch:
        """Return the questions of these dialogs as one batch, on the model's device."""
        device = next(self.model.parameters()).device
        k = self.model.sizes.turns
        places = [
            (row, at) for row, dialog in enumerate(dialogs) for at in range(len(dialog.asked))
        ]
        asked = [dialogs[row].asked[at] for row, at in places]
        # Behind a section there are only tokens of no answer.
        marked = pad_sequence(
            [_columns(marks(dialogs[row], at, k), dialogs[row]) for row, at in places],
            batch_first=True,
        )
        return Batch(
            section=self._text(dialogs, device),
            question=self._text(asked, device),
            dialog=torch.tensor([row for row, _ in places], device=device),
            number=torch.tensor([at for _, at in places], device=device),
            marks=marked.transpose(1, 2).to(device),
            answer=torch.tensor([each.answer for each in asked], device=device),
            yesno=torch.tensor([each.yesno for each in asked], device=device),
            followup=torch.tensor([each.followup for each in asked], device=device),
        )

    def _text(self, texts: Sequence[Dialog] | Sequence[Asked], device: torch.device) -> Text:
        words = None
        if self.vocabulary is not None:
            ids = [torch.tensor(self.vocabulary.ids(text.words)) for text in texts]
            words = pad_sequence(ids, batch_first=True).to(device)
        contextual = None
        if self.states is not None:
            contextual = self.states.of(
                [text.text for text in texts], [text.tokens for text in texts]
            )
        return Text(
            characters=character_ids([text.words for text in texts]).to(device),
            words=words,
            contextual=contextual,
            lengths=torch.tensor([len(text.tokens) for text in texts], device=device),
        )

    def _prediction(self, dialog: Dialog, scores: Scores, row: int) -> Prediction:
        n = len(dialog.tokens)
        start, end = scores.start[row, :n], scores.end[row, :n]
        first, last = decoded(start, end, self.longest, self.decoding)
        return Prediction(
            dialog.span(first, last),
            YESNO[int(scores.yesno[row, last].argmax())],
            FOLLOWUP[int(scores.followup[row, last].argmax())],
        )


def _columns(marked: Sequence[Sequence[int]], dialog: Dialog) -> Tensor:
    """Return (tokens, k) of k rows, also where k is 0."""
    return torch.tensor(marked, dtype=torch.long).reshape(len(marked), len(dialog.tokens)).T


# What tells the baselines from each other: k, the number of previous turns (QuAC 5.3).
TURNS = "turns"


def train(run: Run) -> None:
    """Train BiDAF++ with the run's number of previous turns, and answer its dev file."""
    dialogs = [dialog for path in run.train for dialog in dialogs_of(read_turns(path))]
    asked = dialogs_of(read_turns(run.dev))
    run.note(questions=_n_questions(dialogs), dev_questions=_n_questions(asked))
    learner = learner_of(run, dialogs)
    run.fit(learner, dialogs, asked)
    answers = run.answers(learner, asked)
    lines = [
        prediction_line([each.turn.qid for each in dialog.asked], given)
        for dialog, given in zip(asked, answers, strict=True)
    ]
    run.predictions.write_text("".join(lines), encoding="utf-8")


def learner_of(run: Run, dialogs: Sequence[Dialog]) -> BidafLearner:
    """Return what the run is to train on these dialogs; raises ReaderError."""
    recipe, states, vectors, vocabulary = run.recipe, None, None, None
    if run.encoder:
        states = States(
            load_encoder(run.encoder_of()),
            recipe.integer("window"),
            recipe.integer("stride"),
            device(),
        )
    # Words stand in for ELMo where there is no encoder.
    elif recipe.integer("word_width") or recipe.text("vectors"):
        vocabulary = _vocabulary(dialogs, recipe)
        vectors = _vectors(vocabulary, recipe, run.seed)
        run.note(words=len(vocabulary), words_with_given_vectors=vectors.n_known)
    model = Bidaf(
        sizes_of(recipe, _turns(run), states.width if states else 0),
        None if vectors is None else vectors.matrix,
    )
    return BidafLearner(
        model,
        vocabulary,
        states,
        recipe.integer("longest_answer"),
        recipe.choice("decoding", get_args(Decoding)),
    )


def sizes_of(recipe: Recipe, turns: int, contextual: int = 0) -> Sizes:
    """Return the network's sizes and switches that a recipe tells; raises ReaderError."""
    return Sizes(
        turns=turns,
        hidden=recipe.integer("hidden"),
        character_width=recipe.integer("character_width"),
        filters=recipe.integer("filters"),
        character_windows=recipe.choice("character_windows", get_args(Windows)),
        marker=recipe.integer("marker"),
        longest_dialog=recipe.integer("longest_dialog"),
        dropout=recipe.number("dropout"),
        embedding_dropout=recipe.number("embedding_dropout"),
        contextual=contextual,
    )


def _n_questions(dialogs: Sequence[Dialog]) -> int:
    return sum(len(dialog.asked) for dialog in dialogs)


def _turns(run: Run) -> int:
    turns = run.settings.get(TURNS, 0)
    assert isinstance(turns, int)
    return turns


def _vocabulary(dialogs: Sequence[Dialog], recipe: Recipe) -> Vocabulary:
    """Return the words of the training sections, each section once, and of the questions.

    With a file of vectors a word that is seen once has one, too.
    """
    sections = {dialog.text: dialog.words for dialog in dialogs}.values()
    questions = (asked.words for dialog in dialogs for asked in dialog.asked)
    least = 1 if recipe.text("vectors") else recipe.integer("least_count")
    return counted_vocabulary(chain(sections, questions), least=least)


def _vectors(vocabulary: Vocabulary, recipe: Recipe, seed: int) -> Vectors:
    path = recipe.text("vectors")
    if not path:
        return random_vectors(vocabulary, recipe.integer("word_width"), seed)
    return file_vectors(
        vocabulary, Path(path), recipe.choice("unknown_vectors", get_args(Unknown)), seed
    )
