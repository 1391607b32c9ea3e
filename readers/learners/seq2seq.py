"""Models that write their answer: T5 and BART, which read and then write, and GPT-2.

T5 and BART read one text or several. Of several, each is encoded by itself, and the decoder attends
to the states of all of them, one after another: fusion-in-decoder (Izacard and Grave 2020). GPT-2
goes on with what it has read.
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
# A text to read: two parts with the model's separator between them, or one where the other is "".
Pair = tuple[str, str]


@dataclass(frozen=True)
class Limits:
    """How many tokens are read of a text, and written of an answer; the second part is cut."""

    read: int
    written: int


@dataclass(frozen=True)
class Passage:
    """A passage that a question is answered from; of greater scores it is read the sooner."""

    text: str
    title: str = ""
    score: float = 0.0


def fusion_texts(question: str, passages: Sequence[Passage], most: int | None) -> list[str]:
    """Return the texts to read as the published FiD code words them, of the best `most` passages.

    Of equal scores the earlier passage is the better one. A passage without title is worded without
    one, which that code does not know. With `most` None it is the question alone.
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
    """What the models have in common: they read texts and write one.

    Each item is the texts that it is about; models that read one text alone refuse more.
    """

    def __init__(self, model: Any, tokenizer: Any, limits: Limits) -> None:
        """Take over a model and a tokenizer of transformers."""
        super().__init__()
        self.model, self.tokenizer, self.limits = model, tokenizer, limits

    def loss(self, items: Sequence[Sequence[Pair]], targets: Sequence[str]) -> Tensor:
        """Return the mean cross-entropy of the targets' tokens."""
        raise NotImplementedError

    def log_likelihoods(self, items: Sequence[Sequence[Pair]], targets: Sequence[str]) -> Tensor:
        """Return float[batch]: the logarithm of how likely each target is, all its tokens."""
        raise NotImplementedError

    def write(self, items: Sequence[Sequence[Pair]]) -> list[str]:
        """Return the text written about each item: always the most likely next token."""
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
        """Return float[batch]: the logarithm of how likely each target is, all its tokens."""
        labels = self._labels(targets)
        return _log_likelihoods(self.forward(*self._read(items), labels)[1], labels)

    def write(self, items: Sequence[Sequence[Pair]]) -> list[str]:
        """Return the text written about each item: always the most likely next token."""
        return self._texts(self.greedy(*self._read(items), self.limits.written))

    def encoded(self, ids: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Return the states float[batch, n_texts * length, d] and their mask.

        A text is encoded with its own positions, alone. One that is all padding is not encoded:
        nothing attends to its states, which are 0.
        """
        batch, n_texts, length = ids.shape
        flat_ids, flat_mask = ids.flatten(0, 1), mask.flatten(0, 1)
        there = flat_mask.any(dim=1).nonzero().squeeze(1)
        read = self.model.get_encoder()(input_ids=flat_ids[there], attention_mask=flat_mask[there])
        states = read[0].new_zeros(batch * n_texts, length, read[0].shape[-1])
        states = states.index_copy(0, there, read[0])
        return states.view(batch, n_texts * length, -1), mask.reshape(batch, -1)

    def loss_of_ids(self, ids: Tensor, mask: Tensor, labels: Tensor) -> Tensor:
        """Return the mean cross-entropy of labels int[batch, n], of which IGNORED ones are not."""
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
        """Return int[batch, at most longest]: the start token, then the most likely ones.

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
        """Return ids and mask of the items' texts; fewer texts than others' are padding."""
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
        # The start token is not written: the model's own stands before the labels.
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
    """T5 with what the published FiD code has besides: a position bias in cross-attention.

    transformers 3.0.2, which that code pins, adds the relative position bias of the decoder's first
    layer to the cross-attention of every layer, over the positions of the joined texts. For
    checkpoints of that code alone: newer ones have no such table.
    """

    # transformers 5 counts the positions of cached steps for self-attention alone.
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
    """GPT-2 or another model that goes on with a text: what it writes stands after a separator."""

    def loss(self, items: Sequence[Sequence[Pair]], targets: Sequence[str]) -> Tensor:
        """Return the mean cross-entropy of the targets' tokens; what is read counts nothing."""
        loss: Tensor = self._found(items, targets)[0].loss
        return loss

    def log_likelihoods(self, items: Sequence[Sequence[Pair]], targets: Sequence[str]) -> Tensor:
        """Return float[batch]: the logarithm of how likely each target is, all its tokens."""
        found, labels = self._found(items, targets)
        # What stands at a place is told one place before.
        return _log_likelihoods(found.logits[:, :-1], labels[:, 1:])

    def _found(self, items: Sequence[Sequence[Pair]], targets: Sequence[str]) -> tuple[Any, Tensor]:
        """Return what the model makes of items with their targets, and the labels."""
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
        """Return the text written about each item: always the most likely next token."""
        prompts = [torch.tensor(self._prompt(texts)).flip(0) for texts in items]
        # What is read ends at one place: padding stands before it.
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
        """Return question, separator, context, separator, the context cut to what there is room."""
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
    """Return the model of a name or folder; published: T5 as `PublishedT5`.

    Raises ReaderError in one line where there is none such, or it does not write.
    """
    model, tokenizer = pretrained(name, _auto)
    if not model.config.is_encoder_decoder:
        return Continuer(model, tokenizer, limits)
    return (PublishedT5 if published else EncoderDecoder)(model, tokenizer, limits)


def _auto(config: PreTrainedConfig) -> type:
    return AutoModelForSeq2SeqLM if config.is_encoder_decoder else AutoModelForCausalLM


Step = Callable[[Tensor, Any], tuple[Tensor, Any]]


def _greedy(written: Tensor, longest: int, step: Step, end: int, padding: int) -> Tensor:
    """Return what was written, with the most likely tokens after it until all rows have ended."""
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
    """Return the tokenizer's ids and mask of the pairs, of which the second part is cut."""
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
