"""The pipeline's first two stages: which links, and which window of each article (IIRC 3.2).

What the official code does beside the paper, by name; all of it together is *as published*.

Each changes what the models see, and most do harm (the protocol's README says what each costs), so
that all are off in our recipes; a recipe of one's own can turn on any of them.
"""

import random
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits

from annotation.protocols.iirc.official_files import MAIN
from readers.iirc.questions import Articles, Asked, places
from readers.learners.encoder import Encoder, Pieces, Window, load_encoder, starts
from readers.trained import ReaderError
from readers.trainer.recipe import Recipe, switches
from readers.trainer.run import Run


@dataclass(frozen=True)
class Quirks:
    """Which of the official code's ways are followed."""

    no_final_separator: bool = False
    """Inputs end with their text, without the [SEP] that the encoder was trained with."""
    first_token_with_question: bool = False
    """Of links: the passage's first token is in the question's segment."""
    links_in_reverse: bool = False
    """Of links: scores in the order of the text are given to the links in reverse order."""
    marks_in_text: bool = False
    """Of links: [SEP] is written around each link in the text, looked up among the pieces, and
    taken out again; around the links behind the cut it stays."""
    one_segment: bool = False
    """Of contexts: question, passage and window are all of one segment."""
    unused_separator: bool = False
    """Of contexts: the id 1, [unused0] in BERT, is between the passage's context and the window."""
    short_tails: bool = False
    """Of contexts: windows begin as long as there is text, so that the last ones only repeat."""
    short_by_one: bool = False
    """Of contexts: a window is right though the evidence's last piece stands behind its end."""
    sentences_as_tokens: bool = False
    """Of contexts, in training: each sentence of the passage's evidence is one token, [UNK]."""
    cut_by_characters: bool = False
    """Of contexts: of the passage's window as many characters are kept as it has tokens."""
    decoded: bool = False
    """Of contexts: what is read are pieces put together again, in lower case and spaced."""


NAMES = tuple(field.name for field in fields(Quirks))
AS_PUBLISHED = Quirks(**dict.fromkeys(NAMES, True))


def quirks_of(recipe: Recipe) -> Quirks:
    """Return the quirks that a recipe has turned on."""
    return Quirks(**switches(recipe, NAMES))


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


LINKS, CONTEXTS = "links", "contexts"
PICKED, EVIDENCE = "picked", "evidence"
# Who says how long windows are: the official code or 4.2.
CODE, PAPER = "code", "paper"


def cut_of(recipe: Recipe) -> Cut:
    """Return how a recipe has texts cut; raises ReaderError."""
    by_paper = recipe.choice("windows", (CODE, PAPER)) == PAPER
    return Cut(
        context_tokens=recipe.integer("context_tokens"),
        window_tokens=recipe.integer("window_tokens"),
        stride_share=recipe.number("stride_share"),
        most_windows=recipe.integer("most_windows"),
        positions=recipe.integer("positions") if by_paper else 0,
    )


@dataclass
class Retrieval:
    """Both stages, trained or to be trained, over the same linked articles."""

    run: Run
    articles: Articles
    links: LinkLearner
    contexts: ContextLearner
    cutter: Cutter

    @classmethod
    def of(cls, run: Run, articles: Articles) -> "Retrieval":
        """Return both stages untrained, as the run's recipe says."""
        recipe, quirks = run.recipe.of(CONTEXTS), quirks_of(run.recipe)
        cut = cut_of(recipe)
        links = LinkLearner(
            load_encoder(run.encoder_of(LINKS)), run.recipe.of(LINKS).number("threshold")
        )
        encoder = load_encoder(run.encoder_of(CONTEXTS))
        contexts = ContextLearner(encoder, cut.most_windows)
        return cls(run, articles, links, contexts, Cutter(encoder, cut, quirks))

    def fit(self, questions: Sequence[Asked], dev: Sequence[Asked]) -> None:
        """Train both, each on gold inputs; what was trained before is taken as it is."""
        items = [
            [self._link_item(asked, self.right_links(asked)) for asked in of]
            for of in (questions, dev)
        ]
        self.run.fit(self.links, items[0], items[1], stage=LINKS)
        texts = [training_items(self.cutter, of, self.articles) for of in (questions, dev)]
        self.run.fit(self.contexts, texts[0], texts[1], stage=CONTEXTS)

    def right_links(self, asked: Asked) -> tuple[str, ...]:
        """Return the articles whose links are right for a question, as the recipe has it learned.

        The paper's are those with evidence, so none where nothing answers (IIRC 4.2). Raises
        ReaderError for a recipe that names no known way.
        """
        labels = self.run.recipe.of(LINKS).text("labels")
        if labels not in (PICKED, EVIDENCE):
            raise ReaderError(f'The recipe, labels = "{labels}": say {PICKED} or {EVIDENCE}.')
        if labels == PICKED:
            return tuple(dict.fromkeys(asked.picked))
        found = dict.fromkeys(span.passage for span in asked.evidence)
        return tuple(title for title in found if title != MAIN)

    def _link_item(self, asked: Asked, right: Sequence[str]) -> LinkItem:
        recipe = self.run.recipe.of(LINKS)
        encoder = self.links.model.encoder
        return link_item(encoder, asked, right, self.cutter.quirks, recipe.integer("positions"))

    def predicted_links(self, questions: Sequence[Asked]) -> list[tuple[str, ...]]:
        """Return the articles that are chosen for each question."""
        items = [self._link_item(asked, ()) for asked in questions]
        gold = [[Scored(title, 1.0) for title in asked.documents] for asked in questions]
        found = self.run.answers(self.links, items, stand_in=gold)
        return [self.links.chosen(links) for links in found]

    def predicted_contexts(
        self, questions: Sequence[Asked], links: Sequence[Sequence[str]]
    ) -> list[list[Context]]:
        """Return each question's contexts: the passage's window and one of each article."""
        return selected(
            self.cutter,
            lambda items: self.run.answers(self.contexts, items, stand_in=[0] * len(items)),
            questions,
            links,
            self.articles,
        )

    def links_agreement(
        self, questions: Sequence[Asked], links: Sequence[Sequence[str]]
    ) -> Agreement:
        """Return how the chosen articles agree with the right ones; each that is chosen counts.

        What is chosen where nothing answers lowers precision, as in Table 7.
        """
        return agreement([self.right_links(asked) for asked in questions], links)
