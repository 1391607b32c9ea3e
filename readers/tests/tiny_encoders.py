"""Encoders of random weights, small enough to be made and trained within a test."""

import random
from collections.abc import Iterable
from pathlib import Path

import torch
from transformers import BertConfig, BertModel, BertTokenizer

from readers.learners.encoder import Encoder

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def tiny_encoder(texts: Iterable[str], rng: random.Random, *, width: int = 32) -> Encoder:
    """Return a BERT of two layers with random weights and a vocabulary of the texts' own words.

    The characters of the texts are pieces too, so that any word of theirs can be written.
    """
    splitter = BertTokenizer(vocab={piece: i for i, piece in enumerate(SPECIAL)}).backend_tokenizer
    words = {
        word
        for text in texts
        for word, _ in splitter.pre_tokenizer.pre_tokenize_str(
            splitter.normalizer.normalize_str(text)
        )
    }
    characters = sorted({character for word in words for character in word})
    pieces = dict.fromkeys(
        [*SPECIAL, *characters, *(f"##{each}" for each in characters), *sorted(words)]
    )
    vocabulary = {piece: number for number, piece in enumerate(pieces)}
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=width,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=2 * width,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(rng.getrandbits(63))
        model = BertModel(config, add_pooling_layer=False)
    return Encoder("tiny", model, BertTokenizer(vocab=vocabulary))


def save_encoder(encoder: Encoder, folder: Path) -> None:
    """Write the encoder's weights and tokenizer as load_encoder reads them."""
    encoder.model.save_pretrained(folder)
    encoder.tokenizer.save_pretrained(folder)
