"""What rankers learn from: labels of passages by what retrieves them, and pseudo-questions."""

import random

import pytest

from annotation.protocols.bookqa.ranking import Ranked, held, label
from annotation.protocols.bookqa.ranking_files import (
    MutualInformation,
    best_sentence,
    is_stage_direction,
    pseudo_questions,
)
from annotation.protocols.bookqa.tests.ranking_making import book, question, ranking_numbers

STOP_WORDS = frozenset({"the", "a", "was", "at", "of", "and", "it", "he"})


def asked(depth: int = 4) -> Ranked:
    """Return a question of which BM25 found the first passages, the oracle some of them."""
    texts = ["the red fox"] * 2 + ["a grey hen"] * 2 + ["red fox and hen"] * 2 + ["nothing"] * 6
    one = question("What ran?", "the red fox")
    return Ranked(book(*texts, asked=(one,)), one, [0, 2, 4, 6, 8, 10], [0, 4, 2, 7, 9, 11])


def test_right_is_what_both_retrieve_and_holds_the_answer() -> None:
    found = label(asked(), ranking_numbers(sigma=1.0), random.Random(1))
    # 0, 2 and 4 are retrieved by both; 2 holds nothing of the answer.
    assert found.positives == [0, 4]
    assert found.left_out[0] == [2]


def test_wrong_is_drawn_from_the_rest_and_holds_little_of_the_answer() -> None:
    one, numbers = asked(), ranking_numbers(sigma=0.5)
    found = label(one, numbers, random.Random(1))
    assert found.negatives
    assert set(found.negatives) <= {6, 8, 10, 7, 9, 11}
    answers = one.question.answer_words
    assert all(
        held(one.book.words[each], answers).rouge_l < numbers.beta for each in found.negatives
    )


@pytest.mark.parametrize(("sigma", "number"), [(1.0, 3), (0.5, 6), (0.1, 6), (3.0, 1)])
def test_sigma_says_how_many_right_ones_there_are_to_each_wrong_one(
    sigma: float, number: int
) -> None:
    assert len(label(asked(), ranking_numbers(sigma=sigma), random.Random(1)).negatives) == number


def test_the_filters_are_strict_and_can_leave_nothing() -> None:
    found = label(asked(), ranking_numbers(alpha=1.0, beta=0.0), random.Random(1))
    assert (found.positives, found.negatives) == ([], [])
    # What is left out is told: the paper learns without the filter too.
    assert found.left_out[0] == [0, 2, 4]
    assert len(found.left_out[1]) == 6


def test_depth_bounds_what_counts_as_retrieved() -> None:
    found = label(asked(), ranking_numbers(depth=1), random.Random(1))
    assert (found.positives, found.negatives) == ([0], [])


def test_the_same_seed_draws_the_same() -> None:
    assert label(asked(), ranking_numbers(), random.Random(7)) == label(
        asked(), ranking_numbers(), random.Random(7)
    )


@pytest.mark.parametrize(
    ("sentence", "is_one"),
    [
        ("SWITCH THE SCENARIO.", True),
        ("(He goes to the window.)", True),
        ("[_Exit Lady Chiltern_.]", True),
        ("He SHOUTED at the window.", False),
        ("He came (late) and left (early).", False),
    ],
)
def test_stage_directions_are_known(sentence: str, is_one: bool) -> None:
    assert is_stage_direction(sentence) == is_one


def information(word: str) -> float:
    return {"goblin": 3.0, "lantern": 2.0, "mine": 1.0, "day": -1.0}.get(word, 0.0)


def sentence_of(passage: str, least: int = 3) -> str | None:
    found = best_sentence(passage, "en", information, STOP_WORDS, least)
    return passage[slice(*found)] if found else None


def test_the_sentence_with_the_highest_sum_is_taken() -> None:
    passage = "It was a fine warm day. A goblin carried the lantern down. The mine lay open there."
    assert sentence_of(passage) == "A goblin carried the lantern down."


def test_stop_words_and_punctuation_count_for_nothing() -> None:
    def of_stop_words(word: str) -> float:
        return 100.0 if word in STOP_WORDS else information(word)

    passage = "He was at it, and it was of the old cold sea. A goblin carried the lantern down."
    found = best_sentence(passage, "en", of_stop_words, STOP_WORDS, 3)
    assert found is not None
    assert passage[slice(*found)].startswith("A goblin")


def test_a_sentence_needs_three_words_that_are_no_stop_words() -> None:
    passage = "The goblin was it. Down there lay nothing but sand."
    assert sentence_of(passage) == "Down there lay nothing but sand."
    assert sentence_of("The goblin was it.") is None
    assert sentence_of("The goblin was it.", least=1) == "The goblin was it."


def test_a_stage_direction_is_never_taken() -> None:
    passage = "GOBLIN LANTERN MINE GOBLIN. Down there lay nothing but sand."
    assert sentence_of(passage) == "Down there lay nothing but sand."


def test_information_is_how_much_more_often_a_book_has_a_word() -> None:
    import math

    mill, sea = book("flour flour water", name="mill"), book("water salt water", name="sea")
    of_mill = MutualInformation([mill, sea]).within(mill)
    assert of_mill("flour") == pytest.approx(math.log((2 / 3) / (2 / 6)))
    assert of_mill("water") == pytest.approx(math.log((1 / 3) / (3 / 6)))
    alone = MutualInformation([mill]).within(mill)
    assert alone("flour") == alone("water") == 0.0


def test_the_right_passage_is_the_one_without_the_sentence() -> None:
    texts = (
        "The goblin carried a lantern down. Nobody saw the mine.",
        "The miller carried flour down. Nobody saw the lantern.",
        "Salt water everywhere. A sail came near.",
    )
    cave, sea = book(*texts, name="cave"), book("Salt sails and water.", name="sea")
    found = list(pseudo_questions(cave, MutualInformation([cave, sea]), ranking_numbers()))
    assert [one.passage for one in found] == [0, 1, 2]
    for one in found:
        passage = texts[one.passage]
        assert passage[one.start : one.end] == one.question
        assert one.question not in one.positive
        assert " ".join(passage.replace(one.question, "").split()) == one.positive
        assert one.passage not in one.negatives
        assert sorted([*one.negatives, one.passage]) == [0, 1, 2]
    assert found[0].negatives[0] == 1


def test_so_many_wrong_passages_are_kept_as_are_asked_for() -> None:
    cave = book(*(f"A goblin saw lantern number {number} there. Rest." for number in range(9)))
    numbers = ranking_numbers(cloze_negatives=4)
    for one in pseudo_questions(cave, MutualInformation([cave]), numbers):
        assert len(one.negatives) == 4


def test_a_passage_of_one_sentence_has_nothing_left_to_find() -> None:
    cave = book("A goblin carried one lantern down.", "Grey goblins carried two lanterns. It ends.")
    found = list(pseudo_questions(cave, MutualInformation([cave]), ranking_numbers()))
    assert [one.passage for one in found] == [1]
