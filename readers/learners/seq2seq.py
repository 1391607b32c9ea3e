"""Models that write their answer: the encoder-decoders T5 and BART, and GPT-2.

T5 and BART read one text or several. Several texts are encoded separately, and the decoder attends
to their joined states: fusion-in-decoder (Izacard and Grave 2020). GPT-2 continues the text that it
has read.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from transformers import AutoModelForCausalLM, AutoModelForSeq2SeqLM, PreTrainedConfig
from transformers.modeling_outputs import BaseModelOutput

from readers.learners.encoder import pretrained

IGNORED = -100
# A text to read: two parts with the model's separator between them, or one if the other is "".
Pair = tuple[str, str]


@dataclass(frozen=True)
class Limits:
    """The most tokens to read of a text and to write of an answer; second parts are cut."""

    read: int
    written: int


@dataclass(frozen=True)
class Passage:
    """A passage to answer a question from; passages with higher scores are read first."""

    text: str
    title: str = ""
    score: float = 0.0


def fusion_texts(question: str, passages: Sequence[Passage], most: int | None) -> list[str]:
    """Return the texts to read, worded as in the published FiD code, for the best `most` passages.

    Of passages with equal scores, the earlier one is better. A passage without a title is worded
    without one, a case that the published code does not have. If `most` is None, the only text is
    the question.
    """
    asked = f"question: {question}"
    if most is None:
        return [asked]
    best = sorted(passages, key=lambda passage: -passage.score)[:most]
    return [
        " ".join(
            [asked, *([f"title: {each.title}"] if each.title else []), f"context: {each.text}"]
        )
        for each in best
    ]


class Writer(nn.Module):
    """The common interface of the models: they read texts and write one.

    Each item is the list of texts to read. Models that read only one text refuse more.
    """

    def __init__(self, model: Any, tokenizer: Any, limits: Limits) -> None:
        """Use a model and a tokenizer of transformers."""
        super().__init__()
        self.model, self.tokenizer, self.limits = model, tokenizer, limits

    def loss(self, items: Sequence[Sequence[Pair]], targets: Sequence[str]) -> Tensor:
        """Return the mean cross-entropy of the targets' tokens."""
        raise NotImplementedError

    def log_likelihoods(self, items: Sequence[Sequence[Pair]], targets: Sequence[str]) -> Tensor:
        """Return float[batch]: the log-likelihood of each target, summed over its tokens."""
        raise NotImplementedError

    def write(self, items: Sequence[Sequence[Pair]]) -> list[str]:
        """Return the text written for each item: always the most likely next token."""
        raise NotImplementedError

    def _texts(self, written: Tensor) -> list[str]:
        found = self.tokenizer.batch_decode(written, skip_special_tokens=True)
        return [text.strip() for text in found]


class EncoderDecoder(Writer):
    """T5, BART or another encoder-decoder of transformers, over one text or several.

    Ids of texts are int[batch, n_texts, length], with a mask of the same shape, 1 for a token.
    """

    caches = True

    def loss(self, items: Sequence[Sequence[Pair]], targets: Sequence[str]) -> Tensor:
        """Return the mean cross-entropy of the targets' tokens."""
        return self.loss_of_ids(*self._read(items), self._labels(targets))

    def log_likelihoods(self, items: Sequence[Sequence[Pair]], targets: Sequence[str]) -> Tensor:
        """Return float[batch]: the log-likelihood of each target, summed over its tokens."""
        labels = self._labels(targets)
        return _log_likelihoods(self.forward(*self._read(items), labels)[1], labels)

    def write(self, items: Sequence[Sequence[Pair]]) -> list[str]:
        """Return the text written for each item: always the most likely next token."""
        return self._texts(self.greedy(*self._read(items), self.limits.written))

    def encoded(self, ids: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Return the states float[batch, n_texts * length, d] and their mask.

        Each text is encoded alone, with its own positions. A text that is all padding is not
        encoded: its states are 0, and nothing attends to them.
        """
        batch, n_texts, length = ids.shape
        flat_ids, flat_mask = ids.flatten(0, 1), mask.flatten(0, 1)
        there = flat_mask.any(dim=1).nonzero().squeeze(1)
        read = self.model.get_encoder()(input_ids=flat_ids[there], attention_mask=flat_mask[there])
        states = read[0].new_zeros(batch * n_texts, length, read[0].shape[-1])
        states = states.index_copy(0, there, read[0])
        return states.view(batch, n_texts * length, -1), mask.reshape(batch, -1)

    def loss_of_ids(self, ids: Tensor, mask: Tensor, labels: Tensor) -> Tensor:
        """Return the mean cross-entropy of labels int[batch, n], without the IGNORED ones."""
        return self.forward(ids, mask, labels)[0]

    def forward(self, ids: Tensor, mask: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
        """Return the loss and the logits float[batch, n, vocabulary] of labels int[batch, n]."""
        states, of_states = self.encoded(ids, mask)
        found = self.model(
            encoder_outputs=BaseModelOutput(last_hidden_state=states),
            attention_mask=of_states,
            labels=labels,
            use_cache=False,
        )
        return found.loss, found.logits

    @torch.no_grad()
    def greedy(self, ids: Tensor, mask: Tensor, longest: int) -> Tensor:
        """Return int[batch, at most longest]: the start token, then the most likely tokens.

        After the end token there is padding.
        """
        states, of_states = self.encoded(ids, mask)

        def step(written: Tensor, past: Any) -> tuple[Tensor, Any]:
            found = self.model(
                encoder_outputs=BaseModelOutput(last_hidden_state=states),
                attention_mask=of_states,
                decoder_input_ids=written if past is None else written[:, -1:],
                past_key_values=past,
                use_cache=self.caches,
            )
            return found.logits[:, -1], found.past_key_values if self.caches else None

        config = self.model.config
        start = ids.new_full((len(ids), 1), config.decoder_start_token_id)
        return _greedy(start, longest, step, config.eos_token_id, config.pad_token_id)

    def _read(self, items: Sequence[Sequence[Pair]]) -> tuple[Tensor, Tensor]:
        """Return ids and mask of the items' texts; items with fewer texts are padded."""
        n_texts = max(map(len, items))
        pairs = [pair for texts in items for pair in texts]
        found = _padded(self.tokenizer, pairs, self.limits.read)
        kept = torch.tensor(
            [place < len(texts) for texts in items for place in range(n_texts)]
        ).nonzero()
        shape = (len(items) * n_texts, found["input_ids"].shape[1])
        ids = torch.full(shape, self.model.config.pad_token_id)
        ids[kept.squeeze(1)] = found["input_ids"]
        mask = torch.zeros(shape, dtype=torch.long)
        mask[kept.squeeze(1)] = found["attention_mask"]
        device = self.model.device
        shaped = (len(items), n_texts, -1)
        return ids.view(shaped).to(device), mask.view(shaped).to(device)

    def _labels(self, targets: Sequence[str]) -> Tensor:
        # One token of the limit is the start token, which the model puts before the labels itself.
        found = self.tokenizer(
            text_target=list(targets),
            truncation=True,
            max_length=self.limits.written - 1,
            padding=True,
            return_tensors="pt",
        )
        labels: Tensor = found["input_ids"].masked_fill(found["attention_mask"] == 0, IGNORED)
        return labels.to(self.model.device)


class PublishedT5(EncoderDecoder):
    """T5 with an addition of the published FiD code: a position bias in cross-attention.

    transformers 3.0.2, which that code pins, adds the relative position bias of the decoder's first
    layer to the cross-attention of every layer, over the positions of the joined texts. Use it only
    for checkpoints of that code: newer ones have no such table.
    """

    # transformers 5 counts the positions of cached steps only for self-attention.
    caches = False

    def __init__(self, model: Any, tokenizer: Any, limits: Limits) -> None:
        """Add the table of biases, all 0, to be loaded or learnt."""
        super().__init__(model, tokenizer, limits)
        attention = model.decoder.block[0].layer[1].EncDecAttention
        table = nn.Embedding(attention.relative_attention_num_buckets, attention.n_heads)
        nn.init.zeros_(table.weight)
        attention.has_relative_attention_bias = True
        attention.relative_attention_bias = table


class Continuer(Writer):
    """GPT-2 or another model that continues a text; it writes its answer after a separator."""

    def loss(self, items: Sequence[Sequence[Pair]], targets: Sequence[str]) -> Tensor:
        """Return the mean cross-entropy of the targets' tokens; the prompt does not count."""
        loss: Tensor = self._found(items, targets)[0].loss
        return loss

    def log_likelihoods(self, items: Sequence[Sequence[Pair]], targets: Sequence[str]) -> Tensor:
        """Return float[batch]: the log-likelihood of each target, summed over its tokens."""
        found, labels = self._found(items, targets)
        # The logits at one place predict the token at the next place.
        return _log_likelihoods(found.logits[:, :-1], labels[:, 1:])

    def _found(self, items: Sequence[Sequence[Pair]], targets: Sequence[str]) -> tuple[Any, Tensor]:
        """Return the model's output for items with their targets, and the labels."""
        prompts = [self._prompt(texts) for texts in items]
        answers = [self._answer(target) for target in targets]
        rows = [torch.tensor(prompt + of) for prompt, of in zip(prompts, answers, strict=True)]
        ids, mask = (part.to(self.model.device) for part in _right(rows, self._end))
        labels = ids.masked_fill(mask == 0, IGNORED)
        for row, prompt in zip(labels, prompts, strict=True):
            row[: len(prompt)] = IGNORED
        return self.model(input_ids=ids, attention_mask=mask, labels=labels), labels

    @torch.no_grad()
    def write(self, items: Sequence[Sequence[Pair]]) -> list[str]:
        """Return the text written for each item: always the most likely next token."""
        prompts = [torch.tensor(self._prompt(texts)).flip(0) for texts in items]
        # Padding stands before the prompts, so that all of them end at one place.
        ids, mask = (part.flip(1).to(self.model.device) for part in _right(prompts, self._end))

        def step(written: Tensor, past: Any) -> tuple[Tensor, Any]:
            grown = torch.cat([mask, mask.new_ones(len(mask), written.shape[1] - mask.shape[1])], 1)
            places = (grown.cumsum(1) - 1).clamp(min=0)
            last = slice(None) if past is None else slice(-1, None)
            found = self.model(
                input_ids=written[:, last],
                attention_mask=grown,
                position_ids=places[:, last],
                past_key_values=past,
                use_cache=True,
            )
            return found.logits[:, -1], found.past_key_values

        longest = ids.shape[1] + self.limits.written
        written = _greedy(ids, longest, step, self._end, self._end)
        return self._texts(written[:, ids.shape[1] :])

    @property
    def _end(self) -> int:
        end: int = self.tokenizer.eos_token_id
        return end

    def _prompt(self, texts: Sequence[Pair]) -> list[int]:
        """Return question, separator, context, separator; the context is cut to the limit."""
        (pair,) = texts
        first, second = (
            self.tokenizer(part, add_special_tokens=False)["input_ids"] for part in pair
        )
        room = self.limits.read - len(first) - 2
        return [*first, self._end, *second[: max(0, room)], self._end]

    def _answer(self, target: str) -> list[int]:
        found = self.tokenizer(f" {target}", add_special_tokens=False)["input_ids"]
        return [*found[: self.limits.written - 1], self._end]


def load_writer(name: str, limits: Limits, *, published: bool = False) -> Writer:
    """Return the model with a name or in a folder; published: load T5 as `PublishedT5`.

    Raises ReaderError in one line if there is no such model, or it does not write.
    """
    model, tokenizer = pretrained(name, _auto)
    if not model.config.is_encoder_decoder:
        return Continuer(model, tokenizer, limits)
    return (PublishedT5 if published else EncoderDecoder)(model, tokenizer, limits)


def _auto(config: PreTrainedConfig) -> type:
    return AutoModelForSeq2SeqLM if config.is_encoder_decoder else AutoModelForCausalLM


Step = Callable[[Tensor, Any], tuple[Tensor, Any]]


def _greedy(written: Tensor, longest: int, step: Step, end: int, padding: int) -> Tensor:
    """Return `written`, continued with the most likely tokens until all rows have ended."""
    ended = torch.zeros(len(written), dtype=torch.bool, device=written.device)
    past = None
    while written.shape[1] < longest and not ended.all():
        logits, past = step(written, past)
        following = logits.argmax(dim=-1).masked_fill(ended, padding)
        written = torch.cat([written, following[:, None]], dim=1)
        ended |= following == end
    return written


def _log_likelihoods(logits: Tensor, labels: Tensor) -> Tensor:
    losses = nn.functional.cross_entropy(
        logits.transpose(1, 2), labels, ignore_index=IGNORED, reduction="none"
    )
    return -losses.sum(dim=1)


def _padded(tokenizer: Any, pairs: Sequence[Pair], longest: int) -> Any:
    """Return the tokenizer's ids and mask of the pairs; long second parts are cut."""
    firsts, seconds = zip(*pairs, strict=True)
    two = any(seconds)
    return tokenizer(
        list(firsts),
        list(seconds) if two else None,
        truncation="only_second" if two else True,
        max_length=longest,
        padding=True,
        return_tensors="pt",
    )


def _right(rows: Sequence[Tensor], padding: int) -> tuple[Tensor, Tensor]:
    """Return the rows as one tensor, padded at their ends, and the mask."""
    ids = nn.utils.rnn.pad_sequence(list(rows), batch_first=True, padding_value=padding)
    mask = nn.utils.rnn.pad_sequence([torch.ones_like(row) for row in rows], batch_first=True)
    return ids, mask
