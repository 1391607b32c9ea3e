"""Every combination of three votes against a table written out by hand, and the folds' rules."""

from itertools import permutations, product
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.agreement.decision import Outcome
from annotation.protocols.iirc.validation import Vote, agree, verdict

PARAMETERS = SimpleNamespace(
    answer=SimpleNamespace(redundancy=SimpleNamespace(train=1, dev=3, test=3)),
    agreement=SimpleNamespace(min_agreeing=2, max_bad=1),
)

# Each vote with the name of the answer it stands for: same name, same answer.
ALPHABET = [
    ("ada", Vote("span", spans=("Ada Lovelace",))),
    ("ada", Vote("span", spans=("the Ada, Lovelace.",))),
    ("grace", Vote("span", spans=("Grace Hopper",))),
    ("both", Vote("span", spans=("Ada Lovelace", "Grace Hopper"))),
    ("both", Vote("span", spans=("grace hopper", "ada lovelace"))),
    ("the word none", Vote("span", spans=("none",))),
    ("the word yes", Vote("span", spans=("yes",))),
    ("the words 1000", Vote("span", spans=("1000",))),
    ("1000 km", Vote("value", value="1,000", unit="km")),
    ("1000 km", Vote("value", value="1000.0", unit="kilometres")),
    ("1000 miles", Vote("value", value="1000", unit="miles")),
    ("7 km", Vote("value", value="7", unit="km")),
    ("0", Vote("value", value="0")),
    ("yes", Vote("binary", yes_no="yes")),
    ("no", Vote("binary", yes_no="no")),
    ("no answer", Vote("none")),
    ("bad", Vote("bad")),
]

# A, B, C: different answers by first appearance; X: bad.
EXPECTED = {
    "AAA": ("kept", "agreed", 0, (0, 1, 2)),
    "AAB": ("kept", "agreed", 0, (0, 1)),
    "ABA": ("kept", "agreed", 0, (0, 2)),
    "ABB": ("kept", "agreed", 1, (1, 2)),
    "ABC": ("dropped", "no_agreement", None, ()),
    "XAA": ("kept", "agreed", 1, (1, 2)),
    "AXA": ("kept", "agreed", 0, (0, 2)),
    "AAX": ("kept", "agreed", 0, (0, 1)),
    "XAB": ("dropped", "no_agreement_beside_bad", None, ()),
    "AXB": ("dropped", "no_agreement_beside_bad", None, ()),
    "ABX": ("dropped", "no_agreement_beside_bad", None, ()),
    "XXA": ("dropped", "marked_bad", None, ()),
    "XAX": ("dropped", "marked_bad", None, ()),
    "AXX": ("dropped", "marked_bad", None, ()),
    "XXX": ("dropped", "marked_bad", None, ()),
}


def pattern(names: tuple[str, ...]) -> str:
    """Return the names as letters by first appearance, bad as X."""
    letters = {"bad": "X"}
    for name in names:
        letters.setdefault(name, "ABC"[len(letters) - 1])
    return "".join(letters[name] for name in names)


@pytest.mark.parametrize("fold", ["dev", "test"])
def test_every_combination_of_three_votes_has_the_verdict_of_the_table(fold: str) -> None:
    seen = set()
    for combination in product(ALPHABET, repeat=3):
        names, votes = zip(*combination, strict=True)
        result = verdict(votes, PARAMETERS, fold)
        found = (result.outcome, result.reason, result.chosen, result.agreeing)
        assert found == EXPECTED[pattern(names)], names
        seen.add(pattern(names))
    assert seen == set(EXPECTED)


@pytest.mark.parametrize(("name", "vote"), ALPHABET)
def test_one_vote_decides_in_training(name: str, vote: Vote) -> None:
    result = verdict([vote], PARAMETERS, "train")
    if name == "bad":
        assert (result.outcome, result.reason) == (Outcome.DROPPED, "marked_bad")
    else:
        assert (result.outcome, result.reason) == (Outcome.KEPT, "single_annotator")
        assert (result.chosen, result.agreeing) == (0, (0,))


@pytest.mark.parametrize("n_votes", [0, 1, 2])
def test_it_waits_for_votes_even_when_they_already_agree(n_votes: int) -> None:
    result = verdict([Vote("none")] * n_votes, PARAMETERS, "dev")
    assert (result.outcome, result.reason) == (Outcome.WAITING, "waiting_for_votes")
    assert result.chosen is None
    assert verdict([], PARAMETERS, "train").outcome is Outcome.WAITING


def test_every_verdict_says_why_in_a_sentence() -> None:
    for combination in product(ALPHABET, repeat=2):
        votes = [vote for _, vote in combination]
        assert verdict([*votes, Vote("bad")], PARAMETERS, "test").sentence.endswith(".")


def test_a_vote_may_be_a_mapping_with_what_it_needs() -> None:
    votes = [
        {"type": "span", "spans": ["Ada"], "value": None, "unit": "", "reason": "ignored"},
        {"type": "value", "value": "5", "unit": "km"},
        {"type": "span", "spans": ["ADA"]},
    ]
    assert verdict(votes, PARAMETERS, "dev").agreeing == (0, 2)


votes = st.sampled_from([vote for name, vote in ALPHABET if name != "bad"])


@given(votes, votes, votes)
def test_agreeing_is_an_equivalence(one: Vote, two: Vote, three: Vote) -> None:
    assert agree(one, one)
    assert agree(one, two) == agree(two, one)
    assert not (agree(one, two) and agree(two, three)) or agree(one, three)


@given(st.permutations([vote for _, vote in ALPHABET]), st.integers(0, 2))
def test_the_chosen_vote_is_the_first_of_those_that_agree(listed: list[Vote], start: int) -> None:
    result = verdict(listed[start : start + 3], PARAMETERS, "test")
    if result.outcome is Outcome.KEPT:
        assert result.chosen == min(result.agreeing)


SAME_UNITS = [
    ("years", "year"),
    ("years", "yrs."),
    ("years old", "years"),
    ("km", "Kilometers"),
    ("kilometres", "kilometer"),
    ("km²", "square kilometres"),
    ("sq mi", "square miles"),
    ("feet", "ft"),
    ("the inches", "in"),
    ("lbs", "pounds"),
    ("%", "percent"),
    ("%", "percentage"),
    ("$", "US dollars"),
    ("USD", "dollars"),
    ("year-old", "years"),
    ("mph", "miles per hour"),
    ("people", "person"),
    ("countries", "country"),
    ("churches", "church"),
]
OTHER_UNITS = [
    ("years", "months"),
    ("km", "miles"),
    ("km", "square km"),
    ("m", "mm"),
    ("s", "m"),
    ("%", "people"),
    ("%", "percentage points"),
    ("$", "Canadian dollars"),
    ("census", "person"),
]


@pytest.mark.parametrize(("one", "other"), SAME_UNITS)
def test_a_unit_may_be_written_out_or_short_one_or_many(one: str, other: str) -> None:
    assert agree(Vote("value", value="14", unit=one), Vote("value", value="14", unit=other))


@pytest.mark.parametrize(("one", "other"), OTHER_UNITS)
def test_another_unit_is_another_answer(one: str, other: str) -> None:
    assert not agree(Vote("value", value="14", unit=one), Vote("value", value="14", unit=other))


def test_a_unit_left_blank_agrees_with_any_and_brings_no_others_together() -> None:
    blank, years, months = (Vote("value", value="14", unit=u) for u in ("", "years", "months"))
    assert agree(blank, years)
    assert agree(months, blank)
    assert verdict([blank, years, months], PARAMETERS, "dev").agreeing == (0, 1)
    assert verdict([years, months, blank], PARAMETERS, "dev").agreeing == (0, 2)
    assert not agree(Vote("value", value="13"), years)


def test_five_people_on_a_question_of_training_count_as_five() -> None:
    said = [Vote("span", spans=(words,)) for words in ("Ada", "Grace", "Hedy", "Rita", "Ruth")]
    apart = verdict(said, PARAMETERS, "train")
    assert (apart.outcome, apart.reason) == (Outcome.DROPPED, "no_agreement")
    same = verdict([said[0]] * 4 + [Vote("bad")], PARAMETERS, "train")
    assert (same.outcome, same.agreeing) == (Outcome.KEPT, (0, 1, 2, 3))
    bad = verdict([said[0]] * 3 + [Vote("bad")] * 2, PARAMETERS, "train")
    assert (bad.outcome, bad.reason) == (Outcome.DROPPED, "marked_bad")


def test_three_numbers_that_agree_keep_a_question_in_whatever_order_they_came() -> None:
    rules = SimpleNamespace(
        answer=PARAMETERS.answer, agreement=SimpleNamespace(min_agreeing=3, max_bad=1)
    )
    said = [Vote("value", value="12", unit=unit) for unit in ("", "km", "miles", "miles")]
    for votes in permutations(said):
        found = verdict(votes, rules, "dev")
        assert found.outcome == Outcome.KEPT, votes
        assert sorted(votes[index].unit for index in found.agreeing) == ["", "miles", "miles"]
