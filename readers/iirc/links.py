"""Link identification: which links lead to what the question misses (IIRC 3.2.1)."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits

from readers.iirc.questions import Asked
from readers.iirc.quirks import Quirks
from readers.learners.encoder import Encoder, Pieces, Window

MARK = "[SEP]"


class Scored(NamedTuple):
    """A link's target, and how likely the question needs it, in 0..1."""

    title: str
    score: float


@dataclass(frozen=True)
class LinkItem:
    """One question with its passage, and where in the input each link stands.

    spans: first and last position of each link, inclusive. targets, labels: of the same length. A
    link that is cut off with the end of a long passage is in none of them.
    """

    window: Window
    spans: tuple[tuple[int, int], ...]
    targets: tuple[str, ...]
    labels: tuple[float, ...]


class LinkModel(nn.Module):
    """Scores each link by the states of its first and last piece."""

    def __init__(self, encoder: Encoder) -> None:
        super().__init__()
        self.encoder = encoder
        self.classifier = nn.Linear(2 * encoder.width, 1)

    def forward(self, items: Sequence[LinkItem]) -> list[Tensor]:
        """Return the logits of each item's links."""
        states = self.encoder([item.window for item in items])
        return [self._logits(row, item.spans) for row, item in zip(states, items, strict=True)]

    def _logits(self, states: Tensor, spans: Sequence[tuple[int, int]]) -> Tensor:
        places = torch.tensor(spans, dtype=torch.long, device=states.device).reshape(-1, 2)
        return self.classifier(states[places].flatten(1)).squeeze(-1)


class LinkLearner:
    """Learns links by cross-entropy; its dev metric is F1 of the links above the threshold."""

    def __init__(self, encoder: Encoder, threshold: float) -> None:
        self.model, self.threshold = LinkModel(encoder), threshold

    def loss(self, items: Sequence[LinkItem]) -> Tensor:
        """Return the mean over the questions of the mean cross-entropy of their links."""
        losses = [
            binary_cross_entropy_with_logits(logits, logits.new_tensor(item.labels))
            for logits, item in zip(self.model(items), items, strict=True)
            if item.spans
        ]
        return torch.stack(losses).mean() if losses else self.model.classifier.weight.sum() * 0

    def answers(self, items: Sequence[LinkItem]) -> list[list[Scored]]:
        """Return each question's links with their scores."""
        return [
            [Scored(*each) for each in zip(item.targets, logits.sigmoid().tolist(), strict=True)]
            for logits, item in zip(self.model(items), items, strict=True)
        ]

    def score(self, items: Sequence[LinkItem], answers: Sequence[Sequence[Scored]]) -> float:
        """Return F1 in 0..1 of the chosen targets over all questions."""
        gold = [
            {title for title, label in zip(item.targets, item.labels, strict=True) if label}
            for item in items
        ]
        return agreement(gold, [set(self.chosen(links)) for links in answers]).f1

    def chosen(self, links: Sequence[Scored]) -> tuple[str, ...]:
        """Return the targets that score above the threshold, in the order of the text."""
        return tuple(dict.fromkeys(link.title for link in links if link.score > self.threshold))

    def length(self, item: LinkItem) -> int:
        """Return how many positions the input has."""
        return len(item.window.ids)


class Agreement(NamedTuple):
    """Precision, recall and F1 in 0..1, of all questions' sets together."""

    precision: float
    recall: float
    f1: float


def agreement(gold: Sequence[Collection[str]], predicted: Sequence[Collection[str]]) -> Agreement:
    """Return how well sets agree, counted over all of them; 0 where there is nothing to count."""
    both = sum(len(set(right) & set(said)) for right, said in zip(gold, predicted, strict=True))
    precision, recall = (
        both / whole if (whole := sum(map(len, sets))) else 0.0 for sets in (predicted, gold)
    )
    total = precision + recall
    return Agreement(precision, recall, 2 * precision * recall / total if total else 0.0)


def link_item(
    encoder: Encoder, asked: Asked, right: Collection[str], quirks: Quirks, longest: int = 512
) -> LinkItem:
    """Return a question as link identification sees it; right: titles of the links to be chosen.

    longest: positions of an input; the end of a longer passage is cut off (IIRC 4.2).
    """
    question = encoder.pieces(asked.text)
    before = len(encoder.before) + len(question) + len(encoder.between)
    if quirks.marks_in_text:
        text, found = _marked(encoder, asked, longest - 1 - before)
        text = text.cut(0, longest - before)
        spans = [(before + first, before + last) for first, last in found]
        targets = [link.target for link in asked.links][: len(spans)]
        window = encoder.window(question, text)
    else:
        text = encoder.pieces(asked.passage).cut(0, longest - before - len(encoder.after))
        window = encoder.window(question, text)
        held = [(link, window.span(link.start, link.end)) for link in asked.links]
        spans = [span for _, span in held if span]
        targets = [link.target for link, span in held if span]
    if quirks.links_in_reverse:
        targets = [link.target for link in reversed(asked.links)][: len(spans)]
    return LinkItem(
        _as_published(encoder, window, quirks),
        tuple(spans),
        tuple(targets),
        tuple(float(title in right) for title in targets),
    )


def _as_published(encoder: Encoder, window: Window, quirks: Quirks) -> Window:
    """Return the input with what the official code does to it."""
    ids, segments = window.ids, list(window.segments)
    if quirks.no_final_separator:
        ids = ids[: len(ids) - len(encoder.after)]
    if quirks.first_token_with_question:
        segments[window.begin : window.begin + 1] = [0]
    return replace(window, ids=ids, segments=tuple(segments[: len(ids)]))


def _marked(encoder: Encoder, asked: Asked, longest: int) -> tuple[Pieces, list[tuple[int, int]]]:
    """Return the passage's pieces and each link's first and last, found by marks in the text.

    Marks are looked for among the first `longest` pieces of the marked text; those behind stay.
    The pieces have no offsets that mean anything.
    """
    text = asked.passage
    for link in reversed(asked.links):
        text = (
            f"{text[: link.start]} {MARK} {text[link.start : link.end]} {MARK} {text[link.end :]}"
        )
    pieces = encoder.pieces(text)
    mark = encoder.separator
    kept: list[int] = []
    found: list[tuple[int, int]] = []
    opened: int | None = None
    for place, piece in enumerate(pieces.ids):
        if piece != mark or place >= longest:
            kept.append(piece)
        elif opened is None:
            opened = len(kept)
        else:
            found.append((opened, len(kept) - 1))
            opened = None
    return Pieces(tuple(kept), ((0, 0),) * len(kept)), found
