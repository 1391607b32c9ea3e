"""Readers that write their answer: GPT-2, BART and T5, pre-read or not, fused or not (Book QA 4.1).

What a reader of TRAINED does besides is in its settings: `about` "summary" or "story"; `passages`
"ranking" for those of a ranking among the training files, "oracle" for those that BM25 finds by
question and answer, "none" for none, else BM25's; `fusion`: each passage is encoded by itself;
`pre_reading`: "all" or "decoder" of it first reads the training books.

Text infilling: what BART mends when it reads books before it answers (Book QA 4.1).

As in Lewis et al. (2019) and fairseq: spans of words, their lengths drawn from a Poisson
distribution, are each replaced by one mask; a span of no word is a mask put in between.
"""

import json
import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from statistics import fmean
from typing import Literal

import torch
from torch import Generator, Tensor, nn

from annotation.metrics.generated_text import rouge_l
from annotation.protocols.bookqa.scoring import normalised, read_gold
from readers.bookqa.material import (
    DEV,
    TRAIN,
    Asked,
    Material,
    by_oracle,
    by_ranking,
    parted,
    read_material,
)
from readers.learners.seq2seq import (
    IGNORED,
    EncoderDecoder,
    Limits,
    Pair,
    Passage,
    Writer,
    fusion_texts,
    load_writer,
)
from readers.trained import ReaderError
from readers.trainer.recipe import Recipe
from readers.trainer.run import Run

# Of lengths that are rarer the most frequent is the last one: fairseq cuts the distribution there.
RAREST = 1e-7
# What becomes of a span: one mask, nothing, or a mask for each token.
Becomes = Literal["mask", "nothing", "masks"]


def span_lengths(mean: float) -> Tensor:
    """Return the probabilities of the lengths 0, 1, …: Poisson's without its tail."""
    probabilities = [math.exp(-mean)]
    while probabilities[-1] >= RAREST:
        probabilities.append(probabilities[-1] * mean / len(probabilities))
    found = torch.tensor(probabilities)
    return found / found.sum()


def budget(n_words: int, share: float) -> int:
    """Return how many words are hidden: the share, rounded up, in the precision of float32.

    So 15 % of 100 words are 16.
    """
    return math.ceil(torch.tensor(float(n_words)) * share)


def infilled(
    tokens: Tensor,
    mask: int,
    share: float,
    lengths: Tensor,
    generator: Generator | None = None,
    *,
    word_starts: Tensor | None = None,
    becomes: Becomes = "mask",
) -> Tensor:
    """Return the tokens int[n] with spans hidden; the first and the last are left.

    lengths: as `span_lengths` returns them. word_starts: bool[n], which tokens begin a word, that
    words are hidden whole; without it each token is a word. Spans begin at different words and may
    overlap, so that less than the share is hidden where they do.
    """
    starts = (
        torch.ones(len(tokens), dtype=torch.long) if word_starts is None else word_starts.long()
    )
    starts[0] = starts[-1] = 0
    to_hide = budget(int(starts.sum()), share)
    if to_hide == 0:
        return tokens.clone()
    drawn = drawn_lengths(to_hide, lengths, generator)
    spans = drawn[drawn > 0]
    n_inserted = len(drawn) - len(spans)
    found = tokens.clone()
    if len(spans):
        found = _hidden(found, mask, starts, spans, generator, becomes)
    return _with_masks(found, mask, n_inserted, generator) if n_inserted else found


def inserted(n_masks: int, n_tokens: int) -> int:
    """Return how many masks are put in where so many should be: one more by rounding at times."""
    return math.ceil(n_tokens * (n_masks / n_tokens))


def drawn_lengths(to_hide: int, lengths: Tensor, generator: Generator | None) -> Tensor:
    """Return lengths that make `to_hide` together, the last one cut to do so."""

    def some() -> Tensor:
        return torch.multinomial(lengths, to_hide, replacement=True, generator=generator)

    found = some()
    while found.sum() < to_hide:
        found = torch.cat([found, some()])
    sums = found.cumsum(0)
    last = int((sums < to_hide).sum())
    found[last] -= sums[last] - to_hide
    return found[: last + 1]


def _hidden(
    tokens: Tensor,
    mask: int,
    starts: Tensor,
    spans: Tensor,
    generator: Generator | None,
    becomes: Becomes,
) -> Tensor:
    """Return the tokens with so many spans of words hidden, each from another word's start."""
    places = starts.nonzero().squeeze(1)
    order = torch.randperm(len(places), generator=generator)
    at = places[order[: len(spans)]]
    # fairseq draws here which masks become a random token: none do, the draw keeps its order.
    torch.rand(len(spans), generator=generator)
    kept = torch.ones(len(tokens), dtype=torch.bool)
    tokens[at] = mask
    kept[at] = becomes != "nothing"
    # No span goes beyond the last token.
    starts = starts.clone()
    starts[-1] = len(tokens)
    left = spans - 1
    while len(at):
        left = left - starts[at + 1]
        at, left = at[left >= 0] + 1, left[left >= 0]
        tokens[at] = mask
        kept[at] = becomes == "masks"
    return tokens[kept]


def _with_masks(tokens: Tensor, mask: int, n_masks: int, generator: Generator | None) -> Tensor:
    """Return the tokens with masks put anywhere after the first and before the last."""
    number = inserted(n_masks, len(tokens))
    places = torch.randperm(len(tokens) + number - 2, generator=generator)[:number] + 1
    found = torch.full((len(tokens) + number,), mask)
    own = torch.ones(len(found), dtype=torch.bool)
    own[places] = False
    found[own] = tokens
    return found


STORY, SUMMARY = "story", "summary"
RANKING = "ranking"
DECODER = "decoder"
# Passages that are cut into tokens together.
AT_ONCE = 1000


class Reader:
    """Learns to write the answers to questions from their passages."""

    def __init__(self, writer: Writer, *, fusion: bool) -> None:
        """Take over a model; fusion: it encodes each passage by itself, with the question."""
        self.model, self.fusion = writer, fusion
        if fusion and not isinstance(writer, EncoderDecoder):
            raise ReaderError("Only models with an encoder read passages one by one: T5, BART.")

    def loss(self, items: Sequence[Asked]) -> Tensor:
        """Return the mean cross-entropy of the answers' tokens; each item has one answer."""
        return self.model.loss(
            [self._texts(one) for one in items], [one.answers[0] for one in items]
        )

    def answers(self, items: Sequence[Asked]) -> list[str]:
        """Return the texts written."""
        return self.model.write([self._texts(one) for one in items])

    def score(self, items: Sequence[Asked], answers: Sequence[str]) -> float:
        """Return the mean ROUGE-L, by which the paper chooses its models (A)."""
        return mean_rouge_l(items, answers)

    def length(self, item: Asked) -> int:
        """Return the characters that are read."""
        return len(item.question) + sum(map(len, item.passages))

    def _texts(self, one: Asked) -> list[Pair]:
        if not self.fusion:
            return [(one.question, " ".join(one.passages))]
        if self.model.model.config.model_type == "bart":
            return [(one.question, passage) for passage in one.passages]
        # T5 was trained to read what stands after a word with a colon, as FiD's own inputs have.
        passages = [Passage(passage, one.title) for passage in one.passages]
        return [(text, "") for text in fusion_texts(one.question, passages, len(passages))]


class PreReading:
    """Learns to mend passages of which spans are hidden: items are their tokens, int[n]."""

    def __init__(self, writer: EncoderDecoder, recipe: Recipe) -> None:
        """Take over a model."""
        self.model = writer
        self.share = recipe.number("hidden_share")
        self.lengths = span_lengths(recipe.number("span_mean"))

    def loss(self, items: Sequence[Tensor]) -> Tensor:
        """Return the mean cross-entropy of the passages' tokens, read with spans hidden."""
        mask = self.model.tokenizer.mask_token_id
        whole = [item.long() for item in items]
        read = [infilled(item, mask, self.share, self.lengths) for item in whole]
        pad = self.model.model.config.pad_token_id
        device = self.model.model.device
        ids = nn.utils.rnn.pad_sequence(read, batch_first=True, padding_value=pad)
        there = nn.utils.rnn.pad_sequence([torch.ones_like(one) for one in read], batch_first=True)
        labels = nn.utils.rnn.pad_sequence(whole, batch_first=True, padding_value=IGNORED)
        given = ids[:, None].to(device), there[:, None].to(device), labels.to(device)
        return self.model.loss_of_ids(*given)

    def answers(self, items: Sequence[Tensor]) -> list[None]:
        """Return nothing: it is not measured while it reads."""
        return [None for _ in items]

    def score(self, items: Sequence[Tensor], answers: Sequence[None]) -> float:
        """Return nothing worth knowing."""
        return 0.0

    def length(self, item: Tensor) -> int:
        """Return the number of tokens."""
        return len(item)


def mean_rouge_l(items: Sequence[Asked], answers: Sequence[str]) -> float:
    """Return ROUGE-L of the answers as `score` measures it, 0 to 1."""
    return fmean(
        rouge_l(normalised(answer), [normalised(each) for each in one.answers])
        for one, answer in zip(items, answers, strict=True)
    )


def train(run: Run) -> None:
    """Train the reader that the run names, and write its answers."""
    material = material_of(run)
    learnt, asked = questions(run, material)
    recipe = run.recipe
    limits = Limits(recipe.integer("read_tokens"), recipe.integer("answer_tokens"))
    published = recipe.has("published_bias") and recipe.flag("published_bias")
    writer = load_writer(run.encoder_of(), limits, published=published)
    if pre_reading := run.settings.get("pre_reading"):
        pre_read(run, writer, material, decoder_only=pre_reading == DECODER)
    reader = Reader(writer, fusion=bool(run.settings.get("fusion")))
    run.fit(reader, [each for one in learnt for each in _each_answer(one)], asked)
    run.note(questions=len(learnt))
    write(run, asked, run.answers(reader, asked))


def material_of(run: Run) -> Material:
    """Return what the run's files hold; raises ReaderError for a ranking that it does not read."""
    material = read_material(run.train)
    if material.rankings and run.settings.get("passages") != RANKING:
        raise ReaderError(
            f"--train: {run.name} does not read by a trained ranker: leave its ranking out."
        )
    return material


def questions(run: Run, material: Material) -> tuple[list[Asked], list[Asked]]:
    """Return the questions to learn from and those to answer, with the passages to read."""
    settings = run.settings
    if settings.get("about") == SUMMARY:
        asked = material.about_summaries()
    else:
        asked = _ranked(run, material)
    found = parted(asked, read_gold(run.dev, DEV), run.dev)
    if settings.get("passages") == "none":
        most = 0
    else:
        most = 1 if settings.get("about") == SUMMARY else run.recipe.integer("passages")
    learnt, dev = ([one.first(most) for one in part] for part in found)
    return learnt, dev


def write(run: Run, asked: Sequence[Asked], answers: Sequence[str]) -> None:
    """Write the answers in the official layout."""
    said = {one.id: answer for one, answer in zip(asked, answers, strict=True)}
    run.predictions.write_text(json.dumps(said, ensure_ascii=False, indent=1) + "\n", "utf-8")


def _ranked(run: Run, material: Material) -> list[Asked]:
    asked, ranker = material.about_stories(), run.settings.get("passages")
    if ranker == "oracle":
        k1, b = run.recipe.number("bm25_k1"), run.recipe.number("bm25_b")
        return by_oracle(asked, material, k1, b)
    if material.rankings:
        return by_ranking(asked, material.rankings)
    if ranker == RANKING and run.estimate is None:
        raise ReaderError(
            f"--train: {run.name} reads by a trained ranker: give its predictions.jsonl too."
        )
    return asked


def _each_answer(one: Asked) -> list[Asked]:
    """Return the question once with each different answer: there are two, in free words."""
    return [replace(one, answers=(answer,)) for answer in dict.fromkeys(one.answers)]


def pre_read(run: Run, writer: Writer, material: Material, *, decoder_only: bool) -> None:
    """Have the model read passages of the training books, the encoder unchanged or not."""
    if not isinstance(writer, EncoderDecoder) or writer.tokenizer.mask_token_id is None:
        raise ReaderError(f"{run.encoder_of()}: it has no mask to read with; only BART pre-reads.")
    recipe = run.recipe.of("pre-reading")
    frozen = list(writer.model.get_encoder().parameters()) if decoder_only else []
    for parameter in frozen:
        parameter.requires_grad = False
    passages = [] if run.only_answers else _pool(run, material)
    items = list(_tokens(writer, passages, recipe.integer("read_tokens")))
    run.fit(PreReading(writer, recipe), items, [], "pre-reading")
    run.note(pre_read_passages=len(items))
    for parameter in frozen:
        parameter.requires_grad = True


def _pool(run: Run, material: Material) -> list[str]:
    """Return passages drawn from the books of the training questions."""
    books = {line["document_id"] for line in material.found if line["set"] == TRAIN}
    passages = [passage for book in sorted(books) for passage in material.books[book]]
    most = run.recipe.of("pre-reading").integer("pool")
    if 0 < most < len(passages):
        return random.Random(f"{run.seed}:pool").sample(passages, most)
    return passages


def _tokens(writer: EncoderDecoder, passages: Sequence[str], longest: int) -> Iterator[Tensor]:
    """Yield the tokens of each passage, int32[n]: a corpus of them is held."""
    for start in range(0, len(passages), AT_ONCE):
        some = list(passages[start : start + AT_ONCE])
        found = writer.tokenizer(some, truncation=True, max_length=longest)["input_ids"]
        yield from (torch.tensor(ids, dtype=torch.int32) for ids in found)
