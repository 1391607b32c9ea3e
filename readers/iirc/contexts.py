"""Context selection: the window of the passage, and of each article, that answers (IIRC 3.2.2)."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits

from annotation.protocols.iirc.official_files import MAIN
from readers.iirc.questions import Articles, Asked, places
from readers.iirc.quirks import Quirks
from readers.learners.encoder import Encoder, Pieces, Window, starts

# Inputs encoded at once; an article can have hundreds of windows.
AT_ONCE = 64
# What the library of the official code tidies in decoded text.
TIDIED = {" .": ".", " ?": "?", " !": "!", " ,": ",", " ' ": "'", " n't": "n't"}
TIDIED |= {f" '{end}": f"'{end}" for end in ("m", "s", "ve", "re")}


@dataclass(frozen=True)
class Cut:
    """How texts are cut: pieces of all contexts together, and of a window; the stride's share.

    most_windows: windows of a text that are learned from at once, the right ones among them; 0 all.
    positions: how many the encoder has, where windows are as long as these allow; 0 where
    `context_tokens` and `window_tokens` say how long.
    """

    context_tokens: int = 450
    window_tokens: int = 100
    stride_share: float = 0.25
    most_windows: int = 0
    positions: int = 0


class Context(NamedTuple):
    """A part of a document: MAIN or a title, what is read of it, and where it stands."""

    document: str
    text: str
    start: int
    end: int


@dataclass(frozen=True)
class ContextItem:
    """One text with its windows as they are read, what each window says, and which are right."""

    windows: tuple[Window, ...]
    contexts: tuple[Context, ...]
    labels: tuple[float, ...]


class ContextModel(nn.Module):
    """Scores a window by the state of [CLS]."""

    def __init__(self, encoder: Encoder) -> None:
        super().__init__()
        self.encoder = encoder
        self.classifier = nn.Linear(encoder.width, 1)

    def forward(self, windows: Sequence[Window]) -> Tensor:
        """Return the windows' logits."""
        parts = [windows[at : at + AT_ONCE] for at in range(0, len(windows), AT_ONCE)]
        logits = [self.classifier(self.encoder(part)[:, 0]).squeeze(-1) for part in parts]
        return torch.cat(logits)


class ContextLearner:
    """Learns windows by cross-entropy; its dev metric is the share of texts with a right choice."""

    def __init__(self, encoder: Encoder, most_windows: int = 0) -> None:
        self.model, self.most_windows = ContextModel(encoder), most_windows

    def loss(self, items: Sequence[ContextItem]) -> Tensor:
        """Return the mean over the texts of the mean cross-entropy of their windows."""
        drawn = [self._drawn(item) for item in items]
        windows = [item.windows[at] for item, of in zip(items, drawn, strict=True) for at in of]
        logits, losses = self.model(windows), []
        parts = logits.split([len(of) for of in drawn])
        for item, of, part in zip(items, drawn, parts, strict=True):
            labels = part.new_tensor([item.labels[at] for at in of])
            losses.append(binary_cross_entropy_with_logits(part, labels))
        return torch.stack(losses).mean()

    def _drawn(self, item: ContextItem) -> list[int]:
        """Return which windows are learned from: the right ones, and others as there is room."""
        everything = list(range(len(item.windows)))
        if not self.most_windows or len(everything) <= self.most_windows:
            return everything
        right = [at for at in everything if item.labels[at]][: self.most_windows]
        others = [at for at in everything if not item.labels[at]]
        room = min(self.most_windows - len(right), len(others))
        return sorted(right + random.sample(others, room))

    def answers(self, items: Sequence[ContextItem]) -> list[int]:
        """Return the index of each text's best window."""
        logits = self.model([window for item in items for window in item.windows])
        return [int(part.argmax()) for part in logits.split([len(item.windows) for item in items])]

    def score(self, items: Sequence[ContextItem], answers: Sequence[int]) -> float:
        """Return the share, in 0..1, of texts with a right window whose best one is right."""
        hits = [
            item.labels[best] for item, best in zip(items, answers, strict=True) if any(item.labels)
        ]
        return sum(hits) / len(hits) if hits else 0.0

    def length(self, item: ContextItem) -> int:
        """Return how many positions all windows have together."""
        return sum(len(window.ids) for window in item.windows)


@dataclass(frozen=True)
class Cutter:
    """Makes items of texts."""

    encoder: Encoder
    cut: Cut
    quirks: Quirks = field(default_factory=Quirks)

    def window(self, question: str, n_links: int) -> tuple[int, int]:
        """Return size and stride where contexts of so many articles and the passage are read."""
        cut, encoder = self.cut, self.encoder
        size = min(cut.context_tokens // (n_links + 1), cut.window_tokens)
        if cut.positions:
            # 4.2 leaves out that what parts the texts takes positions too.
            parting = (*encoder.before, *encoder.between, *encoder.between, *encoder.after)
            taken = len(encoder.pieces(question)) + len(parting)
            size = max(1, (cut.positions - taken) // (n_links + 1))
        return size, max(1, int(cut.stride_share * size))

    def item(
        self,
        question: str,
        document: str,
        text: str,
        right: Sequence[tuple[int, int]],
        main: Pieces | None,
        size: int,
        stride: int,
    ) -> ContextItem:
        """Return a document's text as context selection sees it; without windows where it is empty.

        right: where the evidence stands. main: what of the passage is read beside an article's
        window; None where the passage itself is cut.
        """
        pieces = self.encoder.pieces(text)
        spans = [span for place in right if (span := pieces.within(*place))]
        windows, contexts, labels = [], [], []
        for start in self._starts(len(pieces), size, stride):
            part = pieces.cut(start, start + size)
            stop = start + len(part) + self.quirks.short_by_one
            windows.append(self._input(self.encoder.pieces(question), main, part))
            contexts.append(self._context(document, text, part, size))
            labels.append(float(any(start <= first and last < stop for first, last in spans)))
        return ContextItem(tuple(windows), tuple(contexts), tuple(labels))

    def _starts(self, length: int, size: int, stride: int) -> Sequence[int]:
        if self.quirks.short_tails or not length:
            return range(0, length, stride)
        return starts(length, size, stride)

    def _input(self, asked: Pieces, main: Pieces | None, part: Pieces) -> Window:
        """Return the input of a window: [CLS] question [SEP] (passage [SEP]) window [SEP]."""
        encoder = self.encoder
        front = (*encoder.before, *asked.ids, *encoder.between)
        if main is not None:
            front += (*main.ids, *((1,) if self.quirks.unused_separator else encoder.between))
        after = () if self.quirks.no_final_separator else encoder.after
        ids = (*front, *part.ids, *after)
        segment = int(not self.quirks.one_segment)
        segments = (0,) * len(front) + (segment,) * (len(ids) - len(front))
        return Window(ids, segments, len(front), 0, part.offsets)

    def _context(self, document: str, text: str, part: Pieces, size: int) -> Context:
        start, end = part.offsets[0][0], part.offsets[-1][1]
        if not (self.quirks.decoded or self.quirks.cut_by_characters):
            return Context(document, text[start:end], start, end)
        ids = list(part.ids)
        if document == MAIN and self.quirks.cut_by_characters:
            ids += [int(self.encoder.tokenizer.pad_token_id or 0)] * (size - len(ids))
            return Context(document, decoded(self.encoder, ids)[: len(part)], start, end)
        return Context(document, decoded(self.encoder, ids), start, end)

    def evidence(self, asked: Asked, size: int) -> Pieces:
        """Return what is read of the passage in training: its evidence, at most `size` pieces."""
        found = [
            asked.passage[start:end] for start, end in places(asked.evidence, MAIN, asked.passage)
        ]
        if self.quirks.sentences_as_tokens:
            known = self.encoder.tokenizer.convert_tokens_to_ids(found)
            return Pieces(tuple(known), ((0, 0),) * len(known))
        return self.encoder.pieces(" ".join(found)).cut(0, size)


def decoded(encoder: Encoder, ids: Sequence[int]) -> str:
    """Return pieces as text the way that the official code's library did."""
    tokens = encoder.tokenizer.convert_ids_to_tokens(list(ids))
    text = " ".join(tokens).replace(" ##", "").strip()
    for before, after in TIDIED.items():
        text = text.replace(before, after)
    return text


def training_items(
    cutter: Cutter, questions: Sequence[Asked], articles: Articles
) -> list[ContextItem]:
    """Return an item for the passage and for each article that has evidence of an answer.

    Where no window holds all the evidence there is nothing to choose, and so no item.
    """
    found = []
    for asked in questions:
        size, stride = cutter.window(asked.text, len(asked.documents))
        right = places(asked.evidence, MAIN, asked.passage)
        if right:
            found.append(cutter.item(asked.text, MAIN, asked.passage, right, None, size, stride))
        main = cutter.evidence(asked, size)
        for title in dict.fromkeys(span.passage for span in asked.evidence):
            text = None if title == MAIN else articles.text(title)
            right = places(asked.evidence, title, text or "")
            if text and right:
                found.append(cutter.item(asked.text, title, text, right, main, size, stride))
    return [item for item in found if any(item.labels)]


Selects = Callable[[list[ContextItem]], list[int]]


def selected(
    cutter: Cutter,
    select: Selects,
    questions: Sequence[Asked],
    links: Sequence[Sequence[str]],
    articles: Articles,
) -> list[list[Context]]:
    """Return each question's contexts: the passage's best window, then one of each article.

    links: the articles' titles by question; those that are not there or empty are left out.
    """
    sizes = [
        cutter.window(asked.text, len(titles))
        for asked, titles in zip(questions, links, strict=True)
    ]
    mains = [
        cutter.item(asked.text, MAIN, asked.passage, (), None, *size)
        for asked, size in zip(questions, sizes, strict=True)
    ]
    found = [[context] for context in _best(select, mains)]
    items, owners = [], []
    for number, (asked, titles, size) in enumerate(zip(questions, links, sizes, strict=True)):
        main = cutter.encoder.pieces(found[number][0].text)
        for title in titles:
            item = cutter.item(asked.text, title, articles.text(title) or "", (), main, *size)
            if item.windows:
                items.append(item)
                owners.append(number)
    for number, context in zip(owners, _best(select, items), strict=True):
        found[number].append(context)
    return found


def _best(select: Selects, items: list[ContextItem]) -> list[Context]:
    if not items:
        return []
    return [item.contexts[best] for item, best in zip(items, select(items), strict=True)]
