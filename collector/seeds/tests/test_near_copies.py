"""What is nearly the same as a seed shares its fold, under any title, in any document."""

from collector.seeds.candidate import GROUP, Candidate
from collector.seeds.selection import Placed, joined

SHARE = 0.5
HARBOUR = "The harbour was dug by hand in one winter and could hold forty herring boats at night"
HARBOURS = HARBOUR.replace("forty", "fifty")
LAMP = "A lamp of seven wicks burned on the northern cape until its last keeper fell asleep there"
FERRY = "Nobody has taken the ferry to the island since a bridge of iron was built beside the mill"


def of(key: str, text: str, group: str = "") -> Candidate:
    return Candidate(key, text, (1,), {GROUP: group} if group else {})


def test_near_copies_are_called_by_the_first_of_them() -> None:
    first, copy, other = joined([], [of("a", HARBOUR), of("b", HARBOURS), of("c", LAMP)], SHARE)[0]
    assert first.text == copy.text == HARBOUR
    assert (copy.key, other.text) == ("b", LAMP)


def test_groups_of_which_texts_are_nearly_the_same_are_one_group() -> None:
    candidates = [
        of("a", LAMP, "North"),
        of("b", HARBOUR, "South"),
        of("c", HARBOURS, "North"),
        of("d", FERRY, "South"),
        of("e", "Something of its own is told here", "East"),
    ]
    together, apart = joined([], candidates, SHARE)
    assert [each.payload[GROUP] for each in together] == ["North"] * 4 + ["East"]
    assert apart == set()


def test_a_near_copy_is_called_by_the_seed_that_has_its_fold() -> None:
    placed = [Placed([HARBOUR], "South", "test"), Placed([LAMP], "North", "train")]
    [copy, other], apart = joined(placed, [of("a", HARBOURS, "East"), of("b", FERRY, "East")], 0.5)
    assert copy.payload[GROUP] == other.payload[GROUP] == "South"
    assert apart == set()


def test_what_would_join_two_splits_is_left_out() -> None:
    placed = [Placed([HARBOUR], "South", "test"), Placed([LAMP], "North", "train")]
    of_both = of("c", HARBOURS, "North")
    assert joined(placed, [of("a", FERRY, "North"), of_both], SHARE)[1] == {"c"}
    # What has stood in two splits since before is found near both.
    placed = [Placed([HARBOUR], None, "test"), Placed([HARBOURS], None, "train")]
    candidates = [of("a", HARBOUR.replace("forty", "sixty")), of("b", LAMP)]
    assert joined(placed, candidates, SHARE)[1] == {"a"}


def test_one_paragraph_in_common_is_enough_for_what_is_compared_by_paragraphs() -> None:
    both = Candidate("a", f"{LAMP} {HARBOUR}", (1, 2), parts=(LAMP, HARBOUR))
    one = Candidate("b", f"{FERRY} {HARBOURS}", (3, 4), parts=(FERRY, HARBOURS))
    (first, copy), apart = joined([], [both, one], SHARE)
    assert first.text == copy.text == LAMP
    assert apart == set()
    # Its two paragraphs stand in two splits already.
    placed = [Placed([LAMP], None, "test"), Placed([FERRY, HARBOUR], None, "train")]
    assert joined(placed, [both, one], SHARE)[1] == {"a"}
