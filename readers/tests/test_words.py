"""Tokens, vocabularies, vectors of words, and what their letters say of them."""

from pathlib import Path
from typing import Literal

import pytest
import torch
from torch import nn

from readers.learners.layers import (
    N_BYTE_IDS,
    CharacterCNN,
    Windows,
    byte_ids,
    character_ids,
)
from readers.learners.tokens import tokens
from readers.learners.vocabulary import (
    UNKNOWN,
    Vocabulary,
    counted_vocabulary,
    file_vectors,
    random_vectors,
)
from readers.trained import ReaderError


def test_tokens_tell_where_they_stand_and_white_space_is_kept_when_asked() -> None:
    text = "Ada  didn't go."
    assert [each.text for each in tokens(text)] == ["Ada", "did", "n't", "go", "."]
    assert all(text[start:end] == word for word, start, end in tokens(text))
    assert [each.text for each in tokens(text, spaces=True)][:2] == ["Ada", " "]


def test_a_vocabulary_has_the_commonest_words_first_and_one_number_for_all_others() -> None:
    vocabulary = counted_vocabulary([["b", "a", "c"], ["b", "a", "b"]], least=2)
    assert vocabulary.words == ("b", "a")
    assert vocabulary.ids(["b", "a", "c"]) == [2, 3, UNKNOWN]
    assert len(vocabulary) == 4


def test_a_word_is_sought_in_other_letters_when_asked() -> None:
    words = ["hop", "Paris", "NATO"]
    asked = ["HOP", "paris", "nato", "Rome"]
    assert Vocabulary(words).ids(asked) == [UNKNOWN] * 4
    assert Vocabulary(words, any_case=True).ids(asked) == [2, 3, 4, UNKNOWN]


@pytest.mark.parametrize("unknown", ["random", "zero"])
def test_words_get_the_vectors_of_a_file(
    tmp_path: Path, unknown: Literal["random", "zero"]
) -> None:
    path = tmp_path / "vectors.txt"
    path.write_text("3 2\nhop 1 2\n. . . 3 4\nother 5 6\n")
    found = file_vectors(Vocabulary(["hop", "hip", ". . ."]), path, unknown, seed=1)
    assert found.n_known == 2
    assert found.matrix[[0, 2, 4]].tolist() == [[0, 0], [1, 2], [3, 4]]
    assert (found.matrix[[1, 3]] == 0).all() == (unknown == "zero")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("hop 1 2\nhip 1\n", "line 2: give a word and 2 numbers"),
        ("hop 1 x\n", "vectors cannot be read"),
        ("other 1 2\n", "for none of the words"),
    ],
)
def test_a_file_that_holds_no_vectors_is_refused(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "vectors.txt"
    path.write_text(text)
    with pytest.raises(ReaderError, match=said):
        file_vectors(Vocabulary(["hop", "hip"]), path, "zero", seed=1)


def test_random_vectors_are_the_same_for_the_same_seed_and_padding_has_none() -> None:
    vocabulary = Vocabulary(["hop", "hip"])
    one, same, other = (random_vectors(vocabulary, 3, seed).matrix for seed in (1, 1, 2))
    assert torch.equal(one, same)
    assert not torch.equal(one, other)
    assert one[0].abs().max() == 0


def test_a_word_is_its_bytes_with_a_mark_at_either_end() -> None:
    assert byte_ids("aé") == [259, 98, 196, 170, 260]
    assert character_ids([["a"], ["b", "ab"]]).tolist() == [
        [[259, 98, 260, 0], [0, 0, 0, 0]],
        [[259, 99, 260, 0], [259, 98, 99, 260]],
    ]
    assert character_ids([["abcdef"]], longest=4).shape == (1, 1, 4)


@pytest.mark.parametrize(("windows", "alike"), [("own", True), ("whole", True), ("all", False)])
def test_what_a_word_is_depends_on_its_neighbours_as_published_alone(
    windows: Windows, alike: bool
) -> None:
    torch.manual_seed(1)
    layer = CharacterCNN(N_BYTE_IDS, 4, 6, windows=windows, rectified=False)
    alone = layer(character_ids([["word"]]))
    together = layer(character_ids([["word", "extraordinarily"]]))
    assert torch.allclose(alone[0, 0], together[0, 0], atol=1e-6) == alike


def test_a_short_word_says_nothing_where_windows_must_be_whole() -> None:
    torch.manual_seed(1)
    ids = character_ids([["a", "abc"]])
    published = CharacterCNN(N_BYTE_IDS, 4, 6, windows="whole")(ids)[0]
    ours = CharacterCNN(N_BYTE_IDS, 4, 6, windows="own")(ids)[0]
    assert published[0].abs().max() == 0
    assert published[1].abs().max() > 0
    assert (ours.abs().amax(-1) > 0).all()


def test_of_windows_that_are_equal_the_first_alone_learns() -> None:
    layer = CharacterCNN(8, 4, 6, windows="all", rectified=False)
    # Numbers whose sums are exact.
    nn.init.constant_(layer.embedding.weight, 0.5)
    nn.init.constant_(layer.convolution.weight, 0.25)
    layer(torch.tensor([[[3] * 5 + [4] * 5]])).sum().backward()
    assert layer.embedding.weight.grad is not None
    assert layer.embedding.weight.grad[3].any()
    assert not layer.embedding.weight.grad[4].any()
