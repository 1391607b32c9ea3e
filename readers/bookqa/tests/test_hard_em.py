"""Losses over several candidate spans against the official code's golden vectors."""

from typing import Any

import pytest
import torch

from annotation.metrics.tests.golden import vectors
from readers.bookqa.reading import (
    Kinds,
    annealed_losses,
    candidate_losses,
    hard_losses,
    hard_probability,
    marginal_losses,
)

pytestmark = pytest.mark.pure


def losses_of(case: Any) -> tuple[torch.Tensor, torch.Tensor]:
    starts, ends, kinds = (
        torch.tensor(case[f"{name}_logits"], dtype=torch.float64)
        for name in ("start", "end", "switch")
    )
    candidates = torch.tensor(case["start_positions"]), torch.tensor(case["end_positions"])
    there = torch.tensor(case["answer_mask"]).bool()
    of_kind = Kinds(kinds, torch.tensor(case["switch"]))
    return candidate_losses(starts, ends, candidates, there, of_kind), there


def close(value: float) -> Any:
    return pytest.approx(float(value), rel=1e-5, abs=1e-5)


def test_every_golden_case_has_the_official_losses() -> None:
    cases = vectors("readers_hard_em.json")["cases"]
    assert len(cases) == 24
    for case in cases:
        losses, there = losses_of(case)
        wanted = case["expected"]
        for row, expected in zip(losses.tolist(), wanted["loss_tensor"], strict=True):
            assert row == [close(value) for value in expected]
        hard = hard_losses(losses, there, as_published=True).sum()
        assert float(hard) == close(wanted["hard_em_min_branch"])
        marginal = marginal_losses(losses, there, as_published=True).sum()
        assert float(marginal) == close(wanted["mml"])
        assert float(losses[:, 0].sum()) == close(wanted["first_only"])


def test_ours_are_the_official_losses_where_every_item_has_a_candidate_in_the_text() -> None:
    same = 0
    for case in vectors("readers_hard_em.json")["cases"]:
        losses, there = losses_of(case)
        if there.any(dim=1).all() and torch.equal(losses > 0, there):
            same += 1
            wanted = case["expected"]
            assert float(hard_losses(losses, there).sum()) == close(wanted["hard_em_min_branch"])
            assert float(marginal_losses(losses, there).sum()) == close(wanted["mml"])
    assert same > 5


def test_an_item_without_a_candidate_costs_nothing_and_teaches_nothing() -> None:
    losses = torch.tensor([[0.0, 0.0], [1.0, 2.0]], requires_grad=True)
    there = torch.tensor([[False, False], [True, True]])
    for of in (hard_losses, marginal_losses):
        found = of(losses, there)
        assert found[0] == 0
        (gradient,) = torch.autograd.grad(found.sum(), losses)
        assert gradient[0].tolist() == [0, 0]
        assert torch.isfinite(gradient).all()


def test_the_likeliest_candidates_decide_more_often_the_later() -> None:
    for step, until, wanted in vectors("readers_hard_em.json")["schedule"]["rows"]:
        assert hard_probability(step, until) == pytest.approx(wanted)


def test_one_draw_decides_for_the_whole_batch() -> None:
    losses, there = torch.tensor([[1.0, 2.0], [3.0, 1.5]]), torch.ones(2, 2, dtype=torch.bool)
    generator = torch.Generator().manual_seed(0)
    kinds = {
        tuple(of(losses, there).tolist()): of.__name__ for of in (hard_losses, marginal_losses)
    }
    drawn = [
        kinds[tuple(annealed_losses(losses, there, 500, 1000, generator).tolist())]
        for _ in range(400)
    ]
    assert 160 < drawn.count("hard_losses") < 240
