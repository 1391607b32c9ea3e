"""A pretrained encoder with its own tokenizer, and the way from its pieces back to the text.

Offsets are half-open, in code points, as everywhere. Long texts are read in windows that overlap.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, cast

import torch
from huggingface_hub.utils import logging as hub_logging
from torch import Tensor, nn
from transformers import (
    AutoConfig,
    AutoModel,
    AutoTokenizer,
    PreTrainedConfig,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)
from transformers.utils import logging as transformers_logging

from readers.trained import ReaderError

# What checkpoints leave out or have besides the encoder itself, and what is not used here.
UNUSED = re.compile(r"(^|\.)pooler\.|position_ids$")
# Embeddings are often padded with rows for no token, to round numbers; never by so many.
MOST_SPARE_ROWS = 1000


class Pieces(NamedTuple):
    """The word pieces of one text, without special tokens: ids and offsets, one each."""

    ids: tuple[int, ...]
    offsets: tuple[tuple[int, int], ...]

    def __len__(self) -> int:
        return len(self.ids)

    def cut(self, start: int, stop: int | None = None) -> "Pieces":
        """Return the pieces from `start` to before `stop`; their offsets stay those of the text."""
        return Pieces(self.ids[start:stop], self.offsets[start:stop])

    def within(self, start: int, end: int) -> tuple[int, int] | None:
        """Return the first and the last piece that share a character with [start, end), or None."""
        found = [i for i, (left, right) in enumerate(self.offsets) if left < end and right > start]
        return (found[0], found[-1]) if found else None


@dataclass(frozen=True)
class Window:
    """One input of an encoder: special tokens, maybe a question, and a part of a text.

    ids, segments: of the same length. begin: where the text's pieces begin in `ids`; first: which
    piece of the text that is; offsets: of the text's pieces in this window.
    """

    ids: tuple[int, ...]
    segments: tuple[int, ...]
    begin: int
    first: int = 0
    offsets: tuple[tuple[int, int], ...] = ()
    # Where the question's pieces begin in `ids`, and how many they are.
    question: tuple[int, int] = (0, 0)

    def span(self, start: int, end: int) -> tuple[int, int] | None:
        """Return the first and last position in `ids` of the characters [start, end) of the text.

        None unless the window holds all of them.
        """
        found = Pieces(self.ids[self.begin :], self.offsets).within(start, end)
        if found is None or self.offsets[found[0]][0] > start or self.offsets[found[1]][1] < end:
            return None
        return self.begin + found[0], self.begin + found[1]

    def characters(self, first: int, last: int) -> tuple[int, int]:
        """Return the offsets in the text of the positions `first` to `last` of `ids`, inclusive."""
        return self.offsets[first - self.begin][0], self.offsets[last - self.begin][1]


class Inputs(NamedTuple):
    """A batch of windows, padded at the end: (windows, longest) each; mask 1 where no padding."""

    ids: Tensor
    mask: Tensor
    segments: Tensor


class Encoder(nn.Module):
    """A transformer that turns windows into one state per position."""

    def __init__(
        self, name: str, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase
    ) -> None:
        super().__init__()
        self.name, self.model = name, model
        # No part of the weights; a module's attributes are saved with it only where it has any.
        self.tokenizer = tokenizer
        self.before, self.between, self.after = _template(tokenizer)

    @property
    def width(self) -> int:
        """Return the number of dimensions of a state."""
        return int(self.model.config.hidden_size)

    @property
    def longest(self) -> int:
        """Return how many positions an input may have, special tokens included."""
        config = self.model.config
        # RoBERTa's positions begin behind the padding's own.
        spent = int(config.pad_token_id) + 1 if _counts_from_padding(self.model) else 0
        return int(config.max_position_embeddings) - spent

    @property
    def separator(self) -> int:
        """Return the id that ends a text, such as [SEP]."""
        return self.after[-1]

    def pieces(self, text: str) -> Pieces:
        """Return the word pieces of a text, without special tokens."""
        found = self.tokenizer(
            text, add_special_tokens=False, return_offsets_mapping=True, verbose=False
        )
        offsets = cast(list[tuple[int, int]], found["offset_mapping"])
        return Pieces(tuple(found["input_ids"]), tuple(_tight(text, *offset) for offset in offsets))

    def window(self, question: Pieces | None, text: Pieces, first: int = 0) -> Window:
        """Return one input of [question and] text, whole; first: of which piece the text begins."""
        if question is None:
            ids = (*self.before, *text.ids, *self.after)
            return Window(ids, (0,) * len(ids), len(self.before), first, text.offsets)
        begin = len(self.before) + len(question) + len(self.between)
        ids = (*self.before, *question.ids, *self.between, *text.ids, *self.after)
        segments = (0,) * begin + (1,) * (len(ids) - begin)
        asked = (len(self.before), len(question))
        return Window(ids, segments, begin, first, text.offsets, asked)

    def windows(
        self, question: Pieces | None, text: Pieces, size: int, stride: int
    ) -> list[Window]:
        """Return inputs of at most `size` positions that cover the text, `stride` pieces apart.

        A stride longer than a window's own text is cut to that, so that nothing is left out. A
        question that leaves the text fewer than half of the positions is cut. Raises ReaderError
        where `size` is more than the encoder can read.
        """
        if size > self.longest:
            raise ReaderError(
                f"{self.name} reads {self.longest} positions, and {size} are asked for; "
                "use a longer encoder, or a smaller size in the recipe."
            )
        special = len(self.before) + len(self.after)
        if question is not None:
            special += len(self.between)
            question = question.cut(0, (size - special) // 2)
        room = size - special - len(question or ())
        return [
            self.window(question, text.cut(start, start + room), start)
            for start in starts(len(text), room, stride)
        ]

    def collate(self, windows: Sequence[Window]) -> Inputs:
        """Return windows as one batch on the encoder's device."""
        device = self.model.device
        longest = max(len(window.ids) for window in windows)
        pad = int(self.tokenizer.pad_token_id or 0)
        ids = torch.full((len(windows), longest), pad, device=device)
        mask, segments = torch.zeros_like(ids), torch.zeros_like(ids)
        for row, window in enumerate(windows):
            ids[row, : len(window.ids)] = torch.tensor(window.ids, device=device)
            segments[row, : len(window.ids)] = torch.tensor(window.segments, device=device)
            mask[row, : len(window.ids)] = 1
        return Inputs(ids, mask, segments)

    def forward(self, windows: Sequence[Window]) -> Tensor:
        """Return the last layer's states: (windows, longest, width)."""
        inputs = self.collate(windows)
        given = {"input_ids": inputs.ids, "attention_mask": inputs.mask}
        if getattr(self.model.config, "type_vocab_size", 0) > 1:
            given["token_type_ids"] = inputs.segments
        return cast(Tensor, self.model(**given).last_hidden_state)


def starts(length: int, size: int, stride: int) -> list[int]:
    """Return where windows of `size` begin, `stride` apart, until one reaches the end."""
    stride, found = max(1, min(stride, size)), [0]
    while found[-1] + size < length:
        found.append(found[-1] + stride)
    return found


def load_encoder(name: str) -> Encoder:
    """Return the encoder of this name or path, with its tokenizer.

    Raises ReaderError in one line where it cannot be had, is no encoder's checkpoint, or does not
    fit its vocabulary.
    """
    model, tokenizer = pretrained(name, lambda config: AutoModel)
    # Nothing here reads it, and where the checkpoint has none it is made at random.
    if getattr(model, "pooler", None) is not None:
        model.pooler = None
    return Encoder(name, model, tokenizer)


def pretrained(
    name: str, kind: Callable[[PreTrainedConfig], type]
) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """Return the model of this name or path, and its tokenizer.

    kind: returns which auto class of transformers reads a model of this configuration. Raises
    ReaderError as `load_encoder` does.
    """
    local = Path(name).exists()
    # What they have to say is one line of ours.
    hub_logging.set_verbosity_error()
    transformers_logging.set_verbosity_error()
    transformers_logging.disable_progress_bar()
    try:
        auto: Any = kind(AutoConfig.from_pretrained(name, local_files_only=local))
        model, told = auto.from_pretrained(name, local_files_only=local, output_loading_info=True)
        tokenizer = AutoTokenizer.from_pretrained(name, local_files_only=local)
    # Every library below raises its own kinds.
    except Exception as error:
        raise ReaderError(_cannot_load(name, local, error)) from None
    _check_weights(name, told)
    check_vocabulary(name, model, tokenizer)
    # Transformers reads half-precision checkpoints as they are; a trainer wants whole ones.
    return model.float(), tokenizer


def check_vocabulary(name: str, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> None:
    """Raise ReaderError unless the tokenizer's ids are the rows of the model's embeddings."""
    embeddings = cast(nn.Embedding, model.get_input_embeddings())
    rows, ids = embeddings.num_embeddings, tokenizer.get_vocab().values()
    if not tokenizer.is_fast:
        raise ReaderError(f"{name}: its tokenizer cannot tell where in the text a token stands.")
    if len(ids) <= len(tokenizer.all_special_ids):
        raise ReaderError(f"{name}: its tokenizer has no vocabulary; put its files there too.")
    if max(ids) >= rows or rows - len(ids) > MOST_SPARE_ROWS:
        raise ReaderError(
            f"{name}: its vocabulary has {len(ids)} tokens and its weights {rows}; "
            "the tokenizer is of another model."
        )


def _template(tokenizer: PreTrainedTokenizerBase) -> tuple[tuple[int, ...], ...]:
    """Return the special ids before, between and after two texts, as the model was trained."""
    found = tokenizer("a", "a", return_special_tokens_mask=True)
    parts: list[list[int]] = [[]]
    for number, special in zip(found["input_ids"], found["special_tokens_mask"], strict=True):
        if special:
            parts[-1].append(number)
        elif len(parts) == 1 or parts[-1]:
            parts.append([])
    before, between, after = (tuple(part) for part in parts)
    return before, between, after


def _tight(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the offsets without blanks at either end: some tokenizers count these in."""
    inside = text[start:end]
    left = len(inside) - len(inside.lstrip())
    if left == len(inside):
        return start, end
    return start + left, end - (len(inside) - len(inside.rstrip()))


def _counts_from_padding(model: PreTrainedModel) -> bool:
    embeddings: Any = getattr(model, "embeddings", None)
    positions = getattr(embeddings, "position_embeddings", None)
    return getattr(positions, "padding_idx", None) is not None


def _cannot_load(name: str, local: bool, error: Exception) -> str:
    if local:
        return f"{name}: it is no encoder with its tokenizer ({_one_line(error)})."
    return (
        f"{name}: there is no such folder, and it could not be fetched by that name "
        f"({_one_line(error)}); give the folder of an encoder."
    )


def _one_line(error: Exception) -> str:
    """Return the first sentence of an error, short."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0].rstrip(".:")[:160]


def _check_weights(name: str, told: dict[str, Any]) -> None:
    """Raise ReaderError where the checkpoint lacks the encoder's weights, or has others' shapes."""
    missing = sorted(key for key in told["missing_keys"] if not UNUSED.search(key))
    other = sorted(str(each[0]) for each in told.get("mismatched_keys", ()))
    if missing or other:
        raise ReaderError(
            f"{name}: the checkpoint is of another model: it lacks {len(missing)} of the "
            f"encoder's weights and has {len(other)} of another shape, "
            f"such as {(missing + other)[0]}."
        )
