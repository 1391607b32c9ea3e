"""Tiny models that write, with random weights and a vocabulary of some texts' words."""

from collections.abc import Iterable
from pathlib import Path

import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import (
    BartConfig,
    BartForConditionalGeneration,
    GPT2Config,
    GPT2LMHeadModel,
    PreTrainedTokenizerFast,
    T5Config,
    T5ForConditionalGeneration,
)

BEGIN, PAD, END, UNKNOWN, MASK = SPECIALS = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")


def tiny_writer(kind: str, texts: Iterable[str], folder: Path, *, width: int = 32) -> str:
    """Write a model (t5, bart or gpt2) of two layers into a folder; return its name."""
    torch.manual_seed(0)
    tokenizer = _tokenizer(kind, texts)
    n_words = len(tokenizer)
    ids = {"pad_token_id": 1, "eos_token_id": 2}
    if kind == "t5":
        config = T5Config(
            vocab_size=n_words, d_model=width, d_kv=width // 2, d_ff=2 * width, num_layers=2,
            num_heads=2, dropout_rate=0, decoder_start_token_id=1, **ids,
        )  # fmt: skip
        model = T5ForConditionalGeneration(config)
    elif kind == "bart":
        config = BartConfig(
            vocab_size=n_words, d_model=width, encoder_layers=2, decoder_layers=2,
            encoder_attention_heads=2, decoder_attention_heads=2, encoder_ffn_dim=2 * width,
            decoder_ffn_dim=2 * width, max_position_embeddings=1024, dropout=0, bos_token_id=0,
            decoder_start_token_id=2, **ids,
        )  # fmt: skip
        model = BartForConditionalGeneration(config)
    else:
        config = GPT2Config(
            vocab_size=n_words, n_positions=1024, n_embd=width, n_layer=2, n_head=2, resid_pdrop=0,
            embd_pdrop=0, attn_pdrop=0, bos_token_id=2, **ids,
        )  # fmt: skip
        model = GPT2LMHeadModel(config)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(folder)


def _tokenizer(kind: str, texts: Iterable[str]) -> PreTrainedTokenizerFast:
    """Return a tokenizer of words, which puts the special tokens where the model has them."""
    split = pre_tokenizers.Sequence([pre_tokenizers.Whitespace()])
    words = [word for text in texts for word, _ in split.pre_tokenize_str(text)]
    numbers = {word: at for at, word in enumerate(dict.fromkeys([*SPECIALS, *words]))}
    made = Tokenizer(models.WordLevel(numbers, unk_token=UNKNOWN))
    made.pre_tokenizer = split
    if kind != "gpt2":
        begin = f"{BEGIN} " * (kind == "bart")
        made.post_processor = processors.TemplateProcessing(
            single=f"{begin}$A {END}",
            pair=f"{begin}$A {END} $B {END}",
            special_tokens=[(token, numbers[token]) for token in (BEGIN, END)],
        )
    return PreTrainedTokenizerFast(
        tokenizer_object=made, bos_token=BEGIN, pad_token=PAD, eos_token=END, unk_token=UNKNOWN,
        sep_token=END, mask_token=MASK,
    )  # fmt: skip
