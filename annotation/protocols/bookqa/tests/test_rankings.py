"""Outside rankings are checked; on the real questions the rankers stand as in the paper."""

import json
from collections.abc import Iterable
from pathlib import Path

import pytest

from annotation.metrics.result import ScoreError
from annotation.protocols.bookqa.parameters import RankingTable
from annotation.protocols.bookqa.ranking import (
    BM25,
    ORACLE,
    UPPERBOUND,
    Coverage,
    Ranked,
    better,
    ranked,
    table_by_label,
    table_of,
)
from annotation.protocols.bookqa.ranking_files import check_ranking, read_ranking
from annotation.protocols.bookqa.tests.ranking_making import (
    book,
    question,
    ranking_numbers,
    real_books,
)

ASKED = question("Who carried the lantern?", "the goblin", "a small goblin", name="first")
CAVE = book(
    "The goblin carried a lantern.",
    "The lantern went out.",
    "Nothing was there.",
    "A sail.",
    asked=(ASKED,),
)
NUMBERS = ranking_numbers(depth=2)


def coverage_of(ranked: Iterable[Ranked], others: Iterable[str], numbers: RankingTable) -> Coverage:
    """Return what the built-in rankers and the others hold of each question's answers."""
    coverage = Coverage([BM25, *others, UPPERBOUND, ORACLE], numbers.coverage_at)
    for one in ranked:
        coverage.add(one)
    return coverage


def test_what_each_ranker_finds() -> None:
    (one,) = ranked([CAVE], NUMBERS, {"mine": {"first": [1, 0]}})
    assert one.bm25 == [0, 1]
    assert one.chosen("mine", 1) == [1]
    assert one.chosen(ORACLE, 1) == [0]
    assert one.chosen(UPPERBOUND, 1) == [0, 1]


def test_the_table_holds_each_ranker_beside_the_papers_figures() -> None:
    numbers = ranking_numbers(depth=2, coverage_at=[1, 5])
    coverage = coverage_of(ranked([CAVE], numbers, {"mine": {"first": [1, 0]}}), ["mine"], numbers)
    table = table_of(coverage, numbers)
    assert [(row[0], row[1], row[2]) for row in table.rows] == [
        (BM25, 1, 1.0),
        ("mine", 1, 0.0),
        (ORACLE, 1, 1.0),
        (BM25, 5, 1.0),
        ("mine", 5, 1.0),
        (ORACLE, 5, 1.0),
        (UPPERBOUND, 2, 1.0),
    ]
    by_name = dict(zip(table.columns, table.rows[3], strict=True))
    assert (by_name["paper's EM"], by_name["paper's ROUGE-L"]) == ("18.99 %", "47.48 %")
    assert dict(zip(table.columns, table.rows[1], strict=True))["p"] == "1.0000"


def test_rouge_l_is_told_by_label_after_the_paper_s_five_passages() -> None:
    other = question("Where was a sail?", "nowhere", name="second")
    unlabelled = question("What?", "a lantern", name="third")
    cave = book("The goblin carried a lantern.", "A sail.", asked=(ASKED, other, unlabelled))
    numbers = ranking_numbers(depth=2, coverage_at=[1, 4])
    coverage = coverage_of(ranked([cave], numbers, {}), [], numbers)
    labels = {
        "first": {"question_type": "event concept", "answer_unit": "entity"},
        "second": {"question_type": "causal"},
    }

    table = table_by_label(coverage, numbers, labels, n_simulated=1)

    told = {row[0]: list(row[1:]) for row in table.rows}
    # The paper's share and its ranker's ROUGE-L stand beside ours.
    assert told["question type: event concept"] == [1, 0.5, 0.283, 1.0, 1.0, 1.0, 0.6215]
    assert told["question group: Event relation"][:-1] == [1, 0.5, 0.406, 0.0, 0.0, 0.0]
    assert told["question group: Event relation"][-1] == pytest.approx(0.4577, abs=1e-4)
    # Of the one question whose answer has a unit.
    assert told["answer unit: entity"][:2] == [1, 1.0]
    rankers = (BM25, UPPERBOUND, ORACLE, "paper's BERT+ICT")
    assert table.columns[3:] == ["paper's share", *(f"{each}: ROUGE-L share" for each in rankers)]
    assert table.note.startswith("After 4 passages")
    assert table.simulated == "With simulated labels: of 1 questions."


def ranking(path: Path, *lines: object) -> Path:
    path.write_text("\n".join(json.dumps(line) for line in lines))
    return path


def test_an_outside_ranking_is_read(tmp_path: Path) -> None:
    path = ranking(tmp_path / "mine.jsonl", {"id": "first", "passages": [1, 0]})
    found = read_ranking(path)
    assert found == {"first": [1, 0]}
    assert check_ranking(path, found, CAVE, NUMBERS) == {"first"}


@pytest.mark.parametrize(
    "line",
    [
        [],
        "text",
        {"id": "first"},
        {"id": 1, "passages": [0]},
        {"id": "first", "passages": []},
        {"id": "first", "passages": [0, 0]},
        {"id": "first", "passages": [True]},
        {"id": "first", "passages": "01"},
    ],
)
def test_a_line_that_is_no_ranking_is_refused_by_its_number(tmp_path: Path, line: object) -> None:
    path = ranking(tmp_path / "mine.jsonl", {"id": "other", "passages": [0]}, line)
    with pytest.raises(ScoreError, match=r"mine\.jsonl, line 2: write \{\"id\": …, \"passages\""):
        read_ranking(path)


def test_a_question_ranked_twice_or_not_at_all_is_refused(tmp_path: Path) -> None:
    twice = ranking(tmp_path / "mine.jsonl", *[{"id": "first", "passages": [0]}] * 2)
    with pytest.raises(ScoreError, match="line 2: the question first is ranked twice"):
        read_ranking(twice)
    with pytest.raises(ScoreError, match="the question first is not in it; rank every one"):
        check_ranking(twice, {}, CAVE, NUMBERS)


def test_a_passage_that_bm25_does_not_offer_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ScoreError, match="passage 3 of first is not among BM25's first 2"):
        check_ranking(tmp_path / "mine.jsonl", {"first": [0, 3]}, CAVE, NUMBERS)


@pytest.mark.data
@pytest.mark.long
def test_on_all_real_questions_bm25_is_below_the_oracle_and_never_above_the_bound(
    data: Path,
) -> None:
    numbers = ranking_numbers()
    coverage = coverage_of(ranked(real_books(data), numbers, {}), [], numbers)
    for most in numbers.coverage_at:
        of_bm25, of_oracle = coverage.of(BM25, most), coverage.of(ORACLE, most)
        assert len(of_bm25) == 586
        assert max(better(of_oracle, of_bm25, numbers)) < 0.01
        assert (coverage.of(UPPERBOUND, most) >= of_bm25).all()
    assert coverage.of(BM25, 5).mean(axis=0).tolist() == pytest.approx([0.20, 0.494], abs=0.01)
