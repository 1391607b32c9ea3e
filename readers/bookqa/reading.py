"""The reader that finds its answer in the passages: BERT on weak labels (Book QA 4.1).

Answers are in free words, so that the right span is taken to be the one of the answer's length with
the best ROUGE-L. With `hard_em` in the settings all spans that are as good are candidates, of both
answers, and the loss is hard EM's (Min et al. 2019), as in the reader of Table 7; else it is the
first of them alone.

Losses where several spans may be the answer: hard EM and marginal likelihood.

Min et al. (2019), with which Book QA 4.2 trains; a span's loss is that of its start and its end,
and of what kind of answer it is, where the model tells kinds.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Generator, Tensor, nn
from torch.nn.functional import cross_entropy

from annotation.protocols.bookqa.ranking import best_spans, words, words_with_places
from readers.bookqa.material import Asked
from readers.bookqa.writing import material_of, mean_rouge_l, questions, write
from readers.learners.encoder import Encoder, Window, load_encoder
from readers.learners.heads import IMPOSSIBLE, SpanHead
from readers.learners.heads import best_spans as best_by_logits
from readers.trainer.recipe import Recipe
from readers.trainer.run import Run

MOST_HARD = 0.8
# The kind of answer that has a span; others (yes, no, none) have none.
SPAN = 0
_MASKED = 1e10
_NONE_IGNORED = -100


class Kinds(NamedTuple):
    """What kind of answer it is: logits float[batch, n_kinds], candidates int[batch, n]."""

    logits: Tensor
    candidates: Tensor


def candidate_losses(
    starts: Tensor,
    ends: Tensor,
    candidates: tuple[Tensor, Tensor],
    there: Tensor,
    kinds: Kinds | None = None,
) -> Tensor:
    """Return float[batch, n]: each candidate's loss, 0 where there is none.

    starts, ends: logits float[batch, length]. candidates: first and last token, int[batch, n]; one
    beyond the text counts nothing. there: bool[batch, n].
    """
    losses = starts.new_zeros(there.shape)
    for logits, places in zip((starts, ends), candidates, strict=True):
        losses = losses + _each(logits, places.clamp(0, logits.shape[1]), logits.shape[1])
    if kinds is not None:
        losses = torch.where(kinds.candidates == SPAN, losses, 0)
        losses = losses + _each(kinds.logits, kinds.candidates, _NONE_IGNORED)
    return torch.where(there.bool(), losses, 0)


def _each(logits: Tensor, places: Tensor, ignored: int) -> Tensor:
    """Return the cross-entropy float[batch, n] of each place under the logits of its row."""
    repeated = logits[:, :, None].expand(-1, -1, places.shape[1])
    return cross_entropy(repeated, places, ignore_index=ignored, reduction="none")


def hard_losses(losses: Tensor, there: Tensor, *, as_published: bool = False) -> Tensor:
    """Return float[batch]: the loss of each item's most likely candidate; 0 without any.

    as_published: there is a candidate where its loss is not 0, and an item without one is charged
    twice the batch's greatest loss, as in the official code.
    """
    if as_published:
        return torch.where(losses == 0, losses + 2 * losses.max(), losses).amin(dim=1)
    least = losses.masked_fill(~there.bool(), torch.inf).amin(dim=1)
    return torch.where(there.bool().any(dim=1), least, 0)


def marginal_losses(losses: Tensor, there: Tensor, *, as_published: bool = False) -> Tensor:
    """Return float[batch]: -ln of the summed probability of each item's candidates; 0 without any.

    as_published: there is a candidate where its loss is not 0, and an item without one costs
    infinitely much, as in the official code.
    """
    if as_published:
        return -torch.exp(-losses - _MASKED * (losses == 0)).sum(dim=1).log()
    found = there.bool().any(dim=1)
    # Rows without a candidate are left out before the sum: no gradient comes of them.
    masked = (-losses).masked_fill(~there.bool(), -torch.inf)[found]
    return losses.new_zeros(len(losses)).masked_scatter(found, -masked.logsumexp(dim=1))


def hard_probability(step: int, steps_until_hard: int) -> float:
    """Return how probable it is that a batch is learnt from by its most likely candidates alone."""
    return min(step / steps_until_hard, MOST_HARD)


def annealed_losses(
    losses: Tensor,
    there: Tensor,
    step: int,
    steps_until_hard: int,
    generator: Generator | None = None,
    *,
    as_published: bool = False,
) -> Tensor:
    """Return hard losses, more often the later, or marginal ones: one draw for the batch."""
    drawn = float(torch.rand((), generator=generator))
    of = hard_losses if drawn < hard_probability(step, steps_until_hard) else marginal_losses
    return of(losses, there, as_published=as_published)


@dataclass(frozen=True)
class Read:
    """A question's passages in windows; candidates: window, first and last position there."""

    context: str
    windows: list[Window]
    candidates: list[tuple[int, int, int]]


class SpanReader(nn.Module):
    """An encoder with a head that scores where the answer begins and ends."""

    def __init__(self, encoder: Encoder) -> None:
        """Take over an encoder."""
        super().__init__()
        self.encoder, self.head = encoder, SpanHead(encoder.width)

    def forward(self, windows: Sequence[Window]) -> tuple[Tensor, Tensor]:
        """Return logits float[windows, length] of start and end; impossible outside the text."""
        states = self.encoder(windows)
        inside = torch.zeros(states.shape[:2], dtype=torch.bool, device=states.device)
        for row, window in zip(inside, windows, strict=True):
            row[window.begin : window.begin + len(window.offsets)] = True
        found: tuple[Tensor, Tensor] = self.head(states, inside)
        return found


class Extractor:
    """Learns where answers stand in the passages of questions."""

    def __init__(self, encoder: Encoder, recipe: Recipe, *, hard_em: bool) -> None:
        """Take over an encoder."""
        self.model = SpanReader(encoder)
        self.size, self.stride = recipe.integer("window"), recipe.integer("stride")
        self.longest = recipe.integer("longest_span")
        self.hard_em, self.step, self.until_hard = hard_em, 0, 1
        self.hard_after = recipe.number("hard_after") if hard_em else 0.0
        self.as_published = hard_em and recipe.flag("published_losses")
        self._known: dict[Asked, Read] = {}

    def at_step(self, step: int, n_steps: int) -> None:
        """Hear how far training is: the likeliest candidates alone decide by and by."""
        self.step, self.until_hard = step, max(1, round(self.hard_after * n_steps))

    def read(self, one: Asked) -> Read:
        """Return the windows of a question's passages, and where its weak labels are there."""
        if one not in self._known:
            encoder, context = self.model.encoder, " ".join(one.passages)
            asked, pieces = encoder.pieces(one.question), encoder.pieces(context)
            windows = encoder.windows(asked, pieces, self.size, self.stride)
            spans = weak_labels(context, one.answers, every=self.hard_em)
            self._known[one] = Read(context, windows, _within(windows, spans))
        return self._known[one]

    def loss(self, items: Sequence[Asked]) -> Tensor:
        """Return the mean loss of the questions; a span is chosen from all windows of one."""
        read = [self.read(one) for one in items]
        starts, ends = self.model([window for each in read for window in each.windows])
        length, most = starts.shape[1], max(len(each.candidates) for each in read)
        counts = [len(each.windows) for each in read]
        joined = [
            nn.utils.rnn.pad_sequence(
                [part.flatten() for part in logits.split(counts)],
                batch_first=True,
                padding_value=IMPOSSIBLE,
            )
            for logits in (starts, ends)
        ]
        places = torch.zeros(2, len(read), most, dtype=torch.long, device=starts.device)
        there = torch.zeros(len(read), most, dtype=torch.bool, device=starts.device)
        for row, each in enumerate(read):
            for at, (window, first, last) in enumerate(each.candidates):
                places[0, row, at] = window * length + first
                places[1, row, at] = window * length + last
                there[row, at] = True
        losses = candidate_losses(joined[0], joined[1], (places[0], places[1]), there)
        if self.hard_em:
            of_each = annealed_losses(
                losses, there, self.step, self.until_hard, as_published=self.as_published
            )
            return of_each.sum() if self.as_published else of_each.mean()
        return losses[:, 0].mean()

    def answers(self, items: Sequence[Asked]) -> list[str]:
        """Return the words of the best span of each question's passages."""
        read = [self.read(one) for one in items]
        starts, ends = self.model([window for each in read for window in each.windows])
        found, row = [], 0
        for each in read:
            best, said = -torch.inf, ""
            for window in each.windows:
                for span in best_by_logits(starts[row], ends[row], longest=self.longest):
                    if span.score > best:
                        start, end = window.characters(span.first, span.last)
                        best, said = span.score, each.context[start:end]
                row += 1
            found.append(said)
        return found

    def score(self, items: Sequence[Asked], answers: Sequence[str]) -> float:
        """Return the mean ROUGE-L, by which the paper chooses its models (A)."""
        return mean_rouge_l(items, answers)

    def length(self, item: Asked) -> int:
        """Return the characters that are read."""
        return len(item.question) + sum(map(len, item.passages))


def weak_labels(context: str, answers: Sequence[str], *, every: bool) -> list[tuple[int, int]]:
    """Return characters of the context that are taken for the answer: spans of its words' number.

    Those with the best ROUGE-L; every: all of them and of each answer, else the first alone, of the
    answer that is held best. None where no word of an answer stands in the context.
    """
    placed = words_with_places(context)
    passage = [word for word, _, _ in placed]
    found = [best_spans(passage, words(answer)) for answer in answers]
    if not every:
        best = max(found, key=lambda one: one[0])
        found = [(best[0], best[1], best[2][:1])]
    spans = [
        (placed[first][1], placed[first + length - 1][2])
        for _, length, firsts in found
        for first in firsts
    ]
    return list(dict.fromkeys(spans))


def _within(
    windows: Sequence[Window], spans: Sequence[tuple[int, int]]
) -> list[tuple[int, int, int]]:
    """Return the spans' places in the first window that holds each; one that none does is left."""
    found = []
    for start, end in spans:
        held = ((at, window.span(start, end)) for at, window in enumerate(windows))
        place = next(((at, *span) for at, span in held if span is not None), None)
        if place is not None:
            found.append(place)
    return found


def train(run: Run) -> None:
    """Train the reader that the run names, and write its answers."""
    learnt, asked = questions(run, material_of(run))
    extractor = Extractor(
        load_encoder(run.encoder_of()), run.recipe, hard_em=bool(run.settings.get("hard_em"))
    )
    labelled = [] if run.only_answers else [one for one in learnt if extractor.read(one).candidates]
    run.note(questions=len(labelled), questions_without_a_span=len(learnt) - len(labelled))
    run.fit(extractor, labelled, asked)
    write(run, asked, run.answers(extractor, asked))
