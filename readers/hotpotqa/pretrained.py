"""A pretrained encoder and the light reader answer together, for few training questions (ours).

The encoder learns to select the span that a mask after the question asks for (Ram et al. 2021). It
learns in two stages: first from questions made from the paragraphs of the training files, then from
the questions of these files. The answer is that of the light reader's answers which both readers
together find most likely.
"""

import json
import math
import random
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import log_softmax

from annotation.metrics.result import read_file
from annotation.metrics.token_overlap import exact_match
from annotation.protocols.hotpotqa.file_format import read
from readers.learners.encoder import Encoder, Pieces, Window, load_encoder
from readers.learners.heads import best_spans, masked, span_log_likelihood
from readers.light.cloze import ClozeQuestions
from readers.light.light_reader import LightReader
from readers.light.passages import bare_title
from readers.reader import YES_NO, Example, Text, asked
from readers.trained import ReaderError
from readers.trainer.recipe import Recipe
from readers.trainer.run import Run

PRETRAINING = "pretraining"


@dataclass(frozen=True)
class Read:
    """A question with its texts in one window, and the places of its answer there.

    held: the light reader's probability of each answer; empty if it is not used.
    """

    key: str
    text: str
    window: Window
    spans: tuple[tuple[int, int], ...] = ()
    answer: str = ""
    held: Mapping[str, float] = field(default_factory=dict)


class MaskedSpans(nn.Module):
    """Scores the start and the end of the span that the mask after the question asks for."""

    def __init__(self, encoder: Encoder) -> None:
        """Use an encoder; its word vectors stay fixed, because there are few questions."""
        super().__init__()
        width = encoder.width
        self.encoder = encoder
        encoder.model.get_input_embeddings().requires_grad_(False)
        self.wanted = nn.ModuleList(nn.Linear(width, width) for _ in range(2))
        self.alone = nn.Linear(width, 2)
        for layer in self.wanted:
            nn.init.normal_(layer.weight, std=0.02)
            nn.init.zeros_(layer.bias)

    def forward(self, windows: Sequence[Window]) -> tuple[Tensor, Tensor]:
        """Return the logits of start and end, (windows, length); masked outside the texts."""
        states = self.encoder(windows).float()
        rows = torch.arange(len(windows), device=states.device)
        at = torch.tensor([sum(window.question) - 1 for window in windows], device=states.device)
        mask, alone = states[rows, at], self.alone(states).float()
        inside = torch.zeros(states.shape[:2], dtype=torch.bool, device=states.device)
        for row, window in zip(inside, windows, strict=True):
            places = [start < end for start, end in window.offsets]
            row[window.begin : window.begin + len(places)] = torch.tensor(places)
        scale = math.sqrt(math.sqrt(states.shape[-1]))
        start, end = (
            (states @ layer(mask).float()[:, :, None]).squeeze(-1) / scale + alone[..., side]
            for side, layer in enumerate(self.wanted)
        )
        return masked(start, inside), masked(end, inside)


class SpanLearner:
    """Learns to find the spans of answers, and answers together with the light reader."""

    def __init__(self, encoder: Encoder, recipe: Recipe) -> None:
        """Use an encoder, with the settings of a recipe."""
        self.model = MaskedSpans(encoder)
        self.weight, self.floor = recipe.number("encoder_weight"), recipe.number("least_log_share")
        self.longest, self.half = recipe.integer("longest_span"), recipe.flag("bfloat16")

    def read(self, example: Example, size: int, held: Mapping[str, float]) -> Read:
        """Return the question with its texts, each cut to its share of `size` positions."""
        encoder = self.model.encoder
        mask = encoder.tokenizer.mask_token_id
        if mask is None:
            raise ReaderError(f"{encoder.name}: it has no mask to ask with.")
        question = encoder.pieces(example.question).cut(0, size // 4)
        question = Pieces((*question.ids, int(mask)), (*question.offsets, (0, 0)))
        room = size - len(question) - 2 * len(encoder.after) - 2
        said = [f"{bare_title(text.title)} : {text.text}" for text in example.texts]
        pieces = [encoder.pieces(each) for each in said]
        shares = _shares([len(each) + 1 for each in pieces], room)
        ids, offsets, before = list[int](), list[tuple[int, int]](), 0
        for text, part, share in zip(said, pieces, shares, strict=True):
            kept = part.cut(0, share - 1)
            ids += [*kept.ids, encoder.separator]
            offsets += [(start + before, end + before) for start, end in kept.offsets]
            before += len(text) + 1
            offsets.append((before - 1, before - 1))
        window = encoder.window(question, Pieces(tuple(ids), tuple(offsets)))
        text, answer = "\n".join(said), example.answer
        spans = [] if answer in YES_NO else _spans(window, text, answer)
        return Read(example.key, text, window, tuple(spans), answer, held)

    def loss(self, items: Sequence[Read]) -> Tensor:
        """Return the mean loss; every place of the answer counts as right."""
        starts, ends = self._logits(items)
        each = [
            span_log_likelihood(start, end, item.spans)
            for start, end, item in zip(starts, ends, items, strict=True)
        ]
        return -torch.stack(each).mean()

    def answers(self, items: Sequence[Read]) -> list[str]:
        """Return the answers that both readers find most likely; alone, the best spans."""
        rows = zip(items, *self._logits(items), strict=True)
        return [self._answer(item, start, end) for item, start, end in rows]

    def score(self, items: Sequence[Read], answers: Sequence[str]) -> float:
        """Return the share of exact matches."""
        right = [exact_match(said, item.answer) for said, item in zip(answers, items, strict=True)]
        return sum(right) / max(1, len(right))

    def length(self, item: Read) -> int:
        """Return the number of pieces in the window."""
        return len(item.window.ids)

    def _logits(self, items: Sequence[Read]) -> tuple[Tensor, Tensor]:
        device = self.model.alone.weight.device.type
        with torch.autocast(device, torch.bfloat16, enabled=self.half):
            starts, ends = self.model([item.window for item in items])
        return starts.float(), ends.float()

    def _answer(self, item: Read, start: Tensor, end: Tensor) -> str:
        if not item.held:
            [span, *_] = best_spans(start, end, longest=self.longest)
            first, last = item.window.characters(span.first, span.last)
            return item.text[first:last]
        of_span = {words: share for words, share in item.held.items() if words not in YES_NO}
        of_kind = {words: item.held[words] for words in YES_NO}
        if sum(of_span.values()) <= max(of_kind.values()):
            return max(of_kind, key=of_kind.__getitem__)
        starts, ends = log_softmax(start, -1), log_softmax(end, -1)

        def likely(words: str) -> float:
            places = _spans(item.window, item.text, words)
            read = [float(starts[first] + ends[last]) for first, last in places]
            share = math.log(sum(map(math.exp, read))) if read else self.floor
            return math.log(of_span[words]) + self.weight * max(self.floor, share)

        return max(of_span, key=likely)


def train(run: Run) -> None:
    """Train both stages and the light reader, and write the official predictions."""
    name = run.encoder_of()
    items = [item for path in run.train for item in _items(path)]
    if not all("answer" in item for item in items):
        raise ReaderError("There are questions without answers; learn from training files.")
    example = gold_example if run.settings.get("paragraphs") == "gold" else _example
    # A question without all its gold paragraphs cannot teach where the evidence is.
    whole = [item for item in items if _gold(item) <= {title for title, _ in item["context"]}]
    learned = [gold_example(item) for item in whole]
    if not learned:
        raise ReaderError("No question has its gold paragraphs in its context.")
    light = LightReader()
    light.fit([example(item) for item in whole], random.Random(run.seed))
    recipe = run.recipe.of(PRETRAINING)
    made = made_questions(items, recipe.integer("questions"), run.seed)
    run.note(learned_from=len(learned), made_questions=len(made), paragraphs_of=len(items))
    run.begin()
    learner = SpanLearner(load_encoder(name), run.recipe)
    for stage, examples in ((PRETRAINING, made), ("reader", learned)):
        size = run.recipe.of(stage).integer("window")
        read = [learner.read(example, size, {}) for example in examples]
        # There are too few questions to set some aside for choosing the best weights.
        run.fit(learner, [one for one in read if one.spans], [], stage)
    size = run.recipe.integer("answer_window")
    questions = [example(item) for item in _items(run.dev)]
    found = run.answers(learner, [_held(learner, light, asked(one), size) for one in questions])
    keys = [one.key for one in questions]
    told = {"answer": dict(zip(keys, found, strict=True)), "sp": {}}
    run.predictions.write_text(json.dumps(told, ensure_ascii=False), "utf-8")


def made_questions(items: Iterable[Mapping[str, Any]], number: int, seed: int) -> list[Example]:
    """Return at most `number` questions from the items' paragraphs, one paragraph per title."""
    texts: dict[str, Text] = {}
    for item in items:
        for title, sentences in item["context"]:
            texts.setdefault(title, _text(title, sentences))
    return ClozeQuestions(list(texts.values()), random.Random(seed)).make(number)


def _held(learner: SpanLearner, light: LightReader, example: Example, size: int) -> Read:
    """Return the question with the light reader's answers and its two most likely texts."""
    pair = replace(example, texts=light.likeliest(example))
    return learner.read(pair, size, light.answers(example))


def _spans(window: Window, text: str, answer: str) -> list[tuple[int, int]]:
    """Return all positions in the window where the answer stands as whole words."""
    pattern = rf"(?<!\w){re.escape(answer)}(?!\w)"
    found = [window.span(*match.span()) for match in re.finditer(pattern, text, re.IGNORECASE)]
    return [span for span in found if span]


def _shares(sizes: Sequence[int], room: int) -> list[int]:
    """Return the room for each text; what short texts do not need goes to the others."""
    shares = [0] * len(sizes)
    for done, at in enumerate(sorted(range(len(sizes)), key=sizes.__getitem__)):
        shares[at] = max(1, min(sizes[at], room // (len(sizes) - done)))
        room -= shares[at]
    return shares


def gold_example(item: Mapping[str, Any]) -> Example:
    """Return a question of an official file with its gold paragraphs; with all if it has none."""
    gold = _gold(item)
    kept = [each for each in item["context"] if each[0] in gold] or item["context"]
    return _example({**item, "context": kept})


def _example(item: Mapping[str, Any]) -> Example:
    """Return a question of an official file."""
    texts = [_text(title, sentences) for title, sentences in item["context"]]
    titles = [text.title for text in texts]
    facts = [
        (titles.index(title), number)
        for title, number in item.get("supporting_facts", ())
        if title in titles and number < len(texts[titles.index(title)].sentences)
    ]
    answer = str(item.get("answer", "")).strip()
    return Example(item["_id"], str(item["question"]).strip(), tuple(texts), answer, tuple(facts))


def _gold(item: Mapping[str, Any]) -> set[str]:
    return {title for title, _ in item.get("supporting_facts", ())}


def _text(title: str, sentences: Sequence[str]) -> Text:
    ends = accumulate(map(len, sentences), initial=0)
    return Text(title, "".join(sentences), tuple(pairwise(ends)))


def _items(path: Path) -> list[dict[str, Any]]:
    return list(read(str(path), read_file(path)))
