"""Text infilling against fairseq's golden vectors."""

from collections import Counter
from statistics import fmean, pstdev
from typing import Any

import pytest
import torch

from annotation.metrics.tests.golden import vectors
from readers.bookqa import writing as infilling
from readers.bookqa.writing import (
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


STATISTICS = (
    *(("statistics", at) for at in range(5)),
    ("statistics_whole_words", "first"),
    ("statistics_replace_length_0", None),
    ("statistics_replace_length_minus_1", None),
)


@pytest.mark.parametrize(("name", "part"), STATISTICS)
def test_ten_thousand_draws_hide_what_fairseq_hides(
    golden: Any, monkeypatch: pytest.MonkeyPatch, name: str, part: int | str | None
) -> None:
    wanted = golden[name] if part is None else golden[name][part]
    n_tokens, mask = wanted["tokens_between_bos_and_eos"], 1000
    tokens, starts = torch.arange(n_tokens + 2), torch.ones(n_tokens + 2, dtype=torch.bool)
    if name == "statistics_whole_words":
        starts[2::3] = False
    drawn = counted(monkeypatch, torch, "multinomial")
    kept = counted(monkeypatch, infilling, "drawn_lengths")
    generator = torch.Generator().manual_seed(wanted["torch_seed"])
    shares, masks, sizes = [], [], []
    for _ in range(wanted["draws"]):
        found = infilled(
            tokens, mask, wanted["mask_ratio"], LENGTHS, generator,
            word_starts=starts, becomes=BECOMES[wanted["replace_length"]],
        )  # fmt: skip
        n_masks = int((found == mask).sum())
        shares.append((n_tokens + 2 - (len(found) - n_masks)) / n_tokens)
        masks.append(n_masks)
        sizes.append(len(found))
    assert budget(int(starts[1:-1].sum()), wanted["mask_ratio"]) == wanted["budget_tokens_or_words"]
    assert drawn == spans_of(wanted["span_lengths_drawn"])
    assert kept == spans_of(wanted["span_lengths_after_trimming_to_budget"])
    measured = {
        "mean_share_of_tokens_hidden": fmean(shares),
        "sd_share": pstdev(shares),
        "min_share": min(shares),
        "max_share": max(shares),
        "mean_number_of_mask_symbols": fmean(masks),
        "mean_output_length_with_bos_eos": fmean(sizes),
    }
    assert measured == {key: pytest.approx(wanted[key], rel=1e-9) for key in measured}


def counted(monkeypatch: pytest.MonkeyPatch, where: object, name: str) -> Counter[int]:
    """Return how often each length comes out of a function from now on."""
    lengths, of = Counter[int](), getattr(where, name)

    def counting(*args: Any, **options: Any) -> torch.Tensor:
        found: torch.Tensor = of(*args, **options)
        lengths.update(found.tolist())
        return found

    monkeypatch.setattr(where, name, counting)
    return lengths


def spans_of(told: dict[str, int]) -> dict[int, int]:
    return {int(length): number for length, number in told.items()}


def test_nothing_is_hidden_where_there_is_nothing_between_first_and_last() -> None:
    assert infilled(torch.tensor([0, 2]), 9, 0.15, LENGTHS).tolist() == [0, 2]
