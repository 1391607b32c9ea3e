"""Text infilling against fairseq's golden vectors."""

from collections.abc import Iterator
from typing import Any

import pytest
import torch

from annotation.metrics.tests.golden import vectors
from annotation.protocols.bookqa.baselines.infilling import (
    Becomes,
    budget,
    infilled,
    inserted,
    span_lengths,
)

pytestmark = pytest.mark.pure
LENGTHS = span_lengths(3)
BECOMES: dict[int, Becomes] = {1: "mask", 0: "nothing", -1: "masks"}


@pytest.fixture
def golden() -> Any:
    return vectors("readers_masking.json")


def test_the_lengths_of_spans_are_drawn_from_fairseqs_distribution(golden: Any) -> None:
    wanted = torch.tensor(golden["span_length_probabilities_lambda_3"])
    assert torch.allclose(LENGTHS, wanted, rtol=1e-5, atol=0)


def test_as_many_words_are_hidden_as_float32_says(golden: Any) -> None:
    for n_words, share, wanted in golden["budget_ceil"]["cases"]:
        assert budget(n_words, share) == wanted


def test_as_many_masks_are_put_in_as_rounding_says(golden: Any) -> None:
    for n_masks, n_tokens, wanted in golden["insert_count_rounding"]["cases"]:
        assert inserted(n_masks, n_tokens) == wanted


def test_the_same_draws_of_torch_hide_the_same_words(golden: Any) -> None:
    cases = golden["examples_same_torch_rng_call_order"]["cases"]
    assert len(cases) == 30
    for case in cases:
        generator = torch.Generator().manual_seed(case["torch_seed"])
        tokens = torch.tensor(case["source"])
        found = infilled(tokens, case["mask_id"], case["mask_ratio"], LENGTHS, generator)
        assert found.tolist() == case["output"]
        assert tokens.tolist() == case["source"]


def statistics(golden: Any) -> Iterator[tuple[Any, bool]]:
    yield from ((each, False) for each in golden["statistics"])
    yield golden["statistics_whole_words"]["first"], True
    yield golden["statistics_replace_length_0"], False
    yield golden["statistics_replace_length_minus_1"], False


# Draws of ours, fewer than fairseq's: their own error is in the comparison.
DRAWS = 1500


def test_as_much_is_hidden_as_by_fairseq_on_average(golden: Any) -> None:
    generator = torch.Generator().manual_seed(0)
    for wanted, whole_words in statistics(golden):
        n_tokens, mask = wanted["tokens_between_bos_and_eos"], 1000
        tokens = torch.arange(n_tokens + 2)
        starts = torch.ones(n_tokens + 2, dtype=torch.bool)
        if whole_words:
            starts[2::3] = False
        shares, masks, sizes = [], [], []
        for _ in range(DRAWS):
            found = infilled(
                tokens, mask, wanted["mask_ratio"], LENGTHS, generator,
                word_starts=starts, becomes=BECOMES[wanted["replace_length"]],
            )  # fmt: skip
            assert found[0] == 0
            assert found[-1] == n_tokens + 1
            n_masks = int((found == mask).sum())
            shares.append((n_tokens + 2 - (len(found) - n_masks)) / n_tokens)
            masks.append(float(n_masks))
            sizes.append(float(len(found)))
        errors = 1 / DRAWS + 1 / wanted["draws"]
        for values, name in (
            (shares, "mean_share_of_tokens_hidden"),
            (masks, "mean_number_of_mask_symbols"),
            (sizes, "mean_output_length_with_bos_eos"),
        ):
            measured = torch.tensor(values)
            error = float(measured.std()) * errors**0.5
            assert abs(float(measured.mean()) - wanted[name]) <= 4 * error, name
        assert min(shares) >= wanted["min_share"] - 0.05
        assert max(shares) <= wanted["max_share"] + (0.05 if whole_words else 1e-9)


def test_nothing_is_hidden_where_there_is_nothing_between_first_and_last() -> None:
    assert infilled(torch.tensor([0, 2]), 9, 0.15, LENGTHS).tolist() == [0, 2]
