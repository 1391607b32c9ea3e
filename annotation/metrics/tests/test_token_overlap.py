"""The SQuAD metrics against the golden vectors, and the quirks worth knowing by name."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.metrics import token_overlap
from annotation.metrics.tests.golden import vectors


def test_every_golden_case_has_the_official_scores() -> None:
    cases = vectors("squad.json")["cases"]
    assert len(cases) == 400
    for case in cases:
        em, f1 = token_overlap.score_v2(case["pred"], case["golds"])
        assert {"exact": em, "f1": f1} == case["v2"], case["id"]
        if "v1" in case:
            em, f1 = token_overlap.score_v1(case["pred"], case["golds"])
            assert {"em": em, "f1": f1} == case["v1"], case["id"]


def test_every_golden_file_has_the_official_totals() -> None:
    loaded = vectors("squad.json")
    cases = {case["id"]: case for case in loaded["cases"]}
    assert len(loaded["files"]) == 8
    for file in loaded["files"]:
        gold = {key: cases[key]["golds"] for key in file["ids"]}
        predictions = {key: cases[key]["pred"] for key in file["ids"]}
        assert token_overlap.evaluate_v2(gold, predictions) == file["expected_v2"]


@given(st.text(max_size=30), st.text(max_size=30))
def test_the_measures_do_not_care_which_side_is_which(one: str, other: str) -> None:
    assert token_overlap.token_f1(one, other) == pytest.approx(token_overlap.token_f1(other, one))
    assert token_overlap.exact_match(one, other) == token_overlap.exact_match(other, one)


def test_two_blanks_match_exactly_but_only_v2_gives_them_an_f1() -> None:
    assert token_overlap.score_v1("The", ["a"]) == (1.0, 0.0)
    assert token_overlap.score_v2("The", ["a"]) == (1.0, 1.0)


def test_a_missing_prediction_counts_zero_in_v1_and_not_at_all_in_v2() -> None:
    gold = {"one": ["Ada"], "two": ["Grace"]}
    assert token_overlap.evaluate_v1(gold, {"one": "ada"}) == {"exact_match": 50.0, "f1": 50.0}
    assert token_overlap.evaluate_v2(gold, {"one": "ada"})["exact"] == 100.0


def test_v1_refuses_an_unanswerable_question() -> None:
    with pytest.raises(ValueError, match=r"v2\.0"):
        token_overlap.score_v1("Ada", [])


def test_the_threshold_of_no_answer_is_the_official_one() -> None:
    cases = vectors("readers_hard_em.json")["squad2_threshold"]
    assert len(cases) == 16
    for case in cases:
        for measure in ("exact", "f1"):
            found = token_overlap.best_threshold(
                case[measure], case["predictions"], case["na_prob"], case["has_answer"]
            )
            wanted = [case["expected_best"][f"best_{measure}{end}"] for end in ("", "_thresh")]
            assert found == pytest.approx(wanted, rel=1e-8)


def test_above_a_threshold_nothing_is_answered_as_the_script_has_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows = 0
    for case in vectors("readers_hard_em.json")["squad2_threshold"]:
        # The scores are told, not the texts that have them.
        told = {key: (case["exact"][key], case["f1"][key]) for key in case["exact"]}
        monkeypatch.setattr(token_overlap, "score_v2", lambda key, _, told=told: told[key])
        gold = {key: [key] * case["has_answer"][key] for key in told}
        for threshold, exact, f1 in case["expected_at_threshold"]["rows"]:
            refused = {key for key, value in case["na_prob"].items() if value > threshold}
            found = token_overlap.evaluate_v2(gold, {key: key for key in told}, refused)
            assert (found["exact"], found["f1"]) == pytest.approx((exact, f1), rel=1e-8)
            rows += 1
    assert rows == 64
