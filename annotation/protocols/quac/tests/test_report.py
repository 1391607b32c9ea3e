"""The paper's tables say what the dialogs hold: by hand for small ones, recounted for real ones."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from annotation.metrics.result import ScoreError
from annotation.metrics.token_overlap import token_f1
from annotation.protocols.quac.baselines import run
from annotation.protocols.quac.chunks import GROUPS
from annotation.protocols.quac.export import identified, published
from annotation.protocols.quac.people import NAMES, People, majority_label
from annotation.protocols.quac.report import Sizes, has_several_answers, predicted, tables
from annotation.protocols.quac.scoring import score
from annotation.protocols.quac.tests.talks import SECTION, SENTENCES, question, write
from annotation.protocols.quac.turns import MarkedAnswer, Turn, read_turns
from annotation.records.schema import SeedRecord, VoteRecord
from annotation.tables.table import Table
from collector.protocols.loading import get_protocol

ONE, TWO, FIVE = SENTENCES[0], SENTENCES[1], SENTENCES[4]
TALK = [
    question("What did she write?", "the first notes", ONE, followup="y"),
    question("Did Grace read?", TWO, FIVE, yesno="y", followup="n"),
    question("What else?", None, TWO, None),
]


def made(files: Mapping[str, Path], predictions: Path | None = None) -> dict[str, Table]:
    """Return the tables of official files by name."""
    loaded = published({name: path.read_bytes() for name, path in files.items()})
    seeds, parameters = identified(loaded.seeds), get_protocol("quac").parameters()
    if predictions is not None:
        return {table.name: table for table in predicted(seeds, parameters, predictions)}
    return {table.name: table for table in tables(seeds, parameters)}


def rows(table: Table) -> dict[Any, list[Any]]:
    """Return the rows by their first cell."""
    return {row[0]: list(row[1:]) for row in table.rows}


@pytest.fixture
def small(tmp_path: Path) -> dict[str, Table]:
    """Return the tables of one validated dialog and one of training."""
    train = write(tmp_path / "train.json", [question("What notes?", ONE)])
    return made({"val.json": write(tmp_path / "val.json", TALK), "train.json": train})


def test_sizes_are_those_of_table_2(small: dict[str, Table]) -> None:
    found = rows(small["size"])
    assert small["size"].columns == ["measure", "train", "dev", "test", "all"]
    assert found["questions"] == [1, 3, 0, 4]
    assert found["dialogs"] == [1, 1, 0, 2]
    assert found["sections"] == [1, 1, 0, 1]
    # Twelve sentences of five words and a full stop.
    assert found["tokens per section"] == [72, 72, None, 72]
    assert found["tokens per question"] == [3, pytest.approx(12 / 3), None, 15 / 4]
    # "the first notes", four whole sentences.
    assert found["tokens per answer"] == [6, pytest.approx((3 + 4 * 6) / 5), None, 33 / 6]
    assert found["% yes or no"][1] == pytest.approx(100 / 3)
    assert found["% no answer"][1] == pytest.approx(100 / 3)


def test_the_tree_of_openings_has_words_and_what_follows(small: dict[str, Table]) -> None:
    openings = [list(row) for row in small["openings"].rows]
    assert openings == [["what", "", 3, 0.75], ["did", "", 1, 0.25]]


def test_answers_are_placed_in_chunks_by_turn_and_by_the_one_before(
    small: dict[str, Table],
) -> None:
    turns = rows(small["places"])
    assert turns["1"] == [2, 1.0, *[0.0] * 12]
    assert turns["2"] == [1, *[0.0] * 4, 1.0, *[0.0] * 8]
    assert turns["3"][-1] == 1.0
    assert turns["all"][0] == 4
    steps = rows(small["transitions"])
    assert steps["beginning"][:2] == [2, 1.0]
    assert steps["1"][5] == 1.0
    assert steps["5"][-1] == 1.0
    assert rows(small["coverage"])["2"] == [1, 0.5]


def test_acts_are_counted_by_turn(small: dict[str, Table]) -> None:
    found = rows(small["acts"])
    assert found["1"] == [2, 0.0, 0.0, 0.5, 0.0]
    assert found["2"] == [1, 1.0, 0.0, 0.0, 1.0]
    assert found["3"] == [1, 0.0, 1.0, 0.0, None]
    assert found["all"] == [4, 0.25, 0.25, 0.25, 0.5]


def test_people_are_compared_where_validators_answered(small: dict[str, Table]) -> None:
    found = rows(small["people"])
    assert small["people"].columns == ["measure", "dev", "all"]
    # "first notes" in "Ada wrote first notes": 2 · 1 · ½ / 1½; nothing in the second; none is 1.
    assert found["human F1 %, low agreement too"][0] == pytest.approx(100 * (2 / 3 + 0 + 1) / 3)
    assert found["human F1 %"][0] == pytest.approx(100 * (2 / 3 + 1) / 2)
    assert found["% left out of the scores"][0] == pytest.approx(100 / 3)
    assert found["% of pairs equal on yes or no"] == [None, None]


def labelled(*labels: str) -> Turn:
    """Return a turn on which the teacher, then validators, gave these labels."""
    teacher, *validators = (MarkedAnswer(ONE, 0, len(ONE), label) for label in labels)
    return Turn("q", "d", 0, "Was it?", SECTION, teacher, tuple(validators), "y", "dev")


def test_teachers_and_validators_are_scored_as_people_are(tmp_path: Path) -> None:
    told = question("What?", "the first notes", "first notes", None, ONE)
    found = rows(made({"val.json": write(tmp_path / "val.json", [told])})["people"])
    short, long = token_f1("first notes", "the first notes"), token_f1("the first notes", ONE)
    assert short == 1
    assert found["teachers' F1 %"][-1] == pytest.approx(100 * long)
    # The validator who found no answer is outvoted, and scores what a system would.
    assert found["validators' F1 %"][-1] == pytest.approx(100 * (1 + 1 + 0) / 3)
    # As in the official metric who is outvoted is none of the people who are compared.
    assert found["human F1 %"][-1] == pytest.approx(100 * (long + 1 + 1) / 3)
    assert found["human F1 %"] == found["human F1 %, low agreement too"]


def test_people_have_one_figure_in_all_tables(official: dict[str, Path]) -> None:
    found = made(official)
    turns = [list(row) for row in found["human_by_turn"].rows]
    mean = sum(row[1] * row[2] for row in turns) / sum(row[1] for row in turns)
    assert rows(found["people"])["human F1 %"][-1] == pytest.approx(mean, abs=1e-9)


def test_labels_of_yes_and_no_are_compared_in_pairs_and_with_the_majority() -> None:
    people = People(0.4)
    people.add(labelled("y", "y", "y", "n"))
    people.add(labelled("n", "n", "x"))
    found = rows(people.tables()[0])
    assert found["% of pairs equal on yes or no"][0] == pytest.approx(100 * (3 + 1) / (6 + 3))
    # Three of the first four; of the others of each n there is one n, by a tie or not.
    shares = [100 * (3 / 4 + agreeing / 3) / 2 for agreeing in (0, 1, 2)]
    assert found["% of people with the others' majority on yes or no"][0] in [
        pytest.approx(share) for share in shares
    ]
    assert majority_label(labelled("y", "n")) in "yn"
    assert majority_label(labelled("y", "n")) == majority_label(labelled("n", "y"))
    assert majority_label(labelled("")) == ""


def test_tokens_are_counted_in_the_language_of_the_text() -> None:
    sizes = Sizes()
    sizes.add(replace(labelled("y"), question="他是谁", language="zh"))
    assert rows(sizes.tables()[0])["tokens per question"][-1] == 3


def test_an_empty_collection_says_so() -> None:
    found = {table.name: table for table in tables([], get_protocol("quac").parameters())}
    assert rows(found["size"])["questions"] == [0, 0, 0, 0]
    assert "No dialog is in the dataset yet" in found["size"].note
    assert "No question has been answered by validators yet" in found["people"].note
    assert not found["places"].rows
    assert not found["human_by_turn"].rows


@pytest.fixture
def official(data: Path) -> dict[str, Path]:
    """Return the two real official files."""
    return {
        name: data / "official" / "quac" / name for name in ("train_v0.2.json", "val_v0.2.json")
    }


def dialogs_of(path: Path) -> list[dict[str, Any]]:
    """Return the plain dialogs of a file."""
    sections = json.loads(path.read_text("utf-8"))["data"]
    return [dialog for section in sections for dialog in section["paragraphs"]]


def test_real_files_recounted(official: dict[str, Path]) -> None:
    found = made(official)
    everything = [dialog for path in official.values() for dialog in dialogs_of(path)]
    asked = [each for dialog in everything for each in dialog["qas"]]
    size, acts = rows(found["size"]), rows(found["acts"])
    assert size["questions"][-1] == len(asked)
    assert size["sections"][-1] == len({dialog["context"] for dialog in everything})
    assert size["questions per dialog"][-1] == len(asked) / len(everything)
    assert acts["all"][1] == sum(each["yesno"] in "yn" for each in asked) / len(asked)
    firsts = Counter(re.split(r"\W", each["question"].lower())[0] for each in asked)
    tree = {row[0]: row[2] for row in found["openings"].rows if row[1] == ""}
    assert tree == {word: n for word, n in firsts.items() if n >= 0.01 * len(asked)}
    steps = rows(found["transitions"])
    assert steps.pop("beginning")[0] == len(everything)
    assert sum(row[0] for row in steps.values()) == len(asked) - len(everything)
    last = sum(each["orig_answer"]["text"] == "CANNOTANSWER" for each in asked)
    assert rows(found["places"])["all"][-1] == last / len(asked)


def test_a_system_stands_beside_people_as_the_official_metric_says(
    official: dict[str, Path], tmp_path: Path
) -> None:
    predictions = tmp_path / "predictions.jsonl"
    gold = official["val_v0.2.json"]
    run("gold-sentence-na", predictions, gold, {})
    found = made(official, predictions)
    whole = score(predictions, gold, {})["official"]
    shown = rows(found["scores"])
    assert {key: shown[NAMES[key]][0] for key in whole} == whole
    # The parts make the whole.
    turns = rows(found["by_turn"])
    n_questions = sum(row[0] for row in turns.values())
    assert n_questions == 34
    assert sum(row[0] * row[2] for row in turns.values()) / n_questions == pytest.approx(
        whole["f1"]
    )
    assert sum(row[0] * row[3] for row in turns.values()) / n_questions == pytest.approx(
        whole["HEQ"]
    )
    human = made(official)
    for name in ("turn", "distance", "answer_length", "previous_act"):
        people = [list(row) for row in human[f"human_by_{name}"].rows]
        assert people == [list(row[:3]) for row in found[f"by_{name}"].rows]


@pytest.mark.parametrize("by", GROUPS)
def test_the_score_command_breaks_down_the_same_way(
    by: str, official: dict[str, Path], tmp_path: Path
) -> None:
    predictions, gold = tmp_path / "predictions.jsonl", official["val_v0.2.json"]
    run("gold-sentence-na", predictions, gold, {})
    table = made(official, predictions)[f"by_{by.replace('-', '_')}"]
    result = score(predictions, gold, {"by": by})
    assert [row[0] for row in result["rows"]][1:] == [row[0] for row in table.rows]
    groups = result["groups"]
    assert [groups[row[0]]["f1"] for row in table.rows] == pytest.approx(
        [row[3] for row in table.rows]
    )
    assert all("DHEQ" not in group for group in groups.values())


def test_predictions_for_something_else_are_told_apart(
    official: dict[str, Path], tmp_path: Path
) -> None:
    other = tmp_path / "other.jsonl"
    other.write_text('{"qid": ["C_q#0"], "best_span_str": [""], "yesno": [""], "followup": [""]}')
    assert "None of the predictions is for a question" in made(official, other)["scores"].note
    other.write_text("{}")
    with pytest.raises(ScoreError, match="line 1"):
        made(official, other)


def test_several_answers_are_places_that_do_not_touch(tmp_path: Path) -> None:
    turns = read_turns(write(tmp_path / "dev.json", TALK))
    assert [has_several_answers(turn) for turn in turns] == [False, True, None]


def simulated_too(seeds: Iterable[SeedRecord]) -> Iterator[SeedRecord]:
    """Yield the seeds after everybody was asked once more, and nobody but a simulation answered."""
    for seed in seeds:
        for asked in seed["questions"]:
            made_up: VoteRecord = {**asked["votes"][0], "stage": "validation", "chosen": False}
            asked["votes"].append({**made_up, "synthetic": True})
        yield seed


def test_simulated_votes_are_in_no_figure(official: dict[str, Path]) -> None:
    loaded = published({name: path.read_bytes() for name, path in official.items()})
    parameters = get_protocol("quac").parameters()
    found = tables(identified(simulated_too(loaded.seeds)), parameters)
    assert {table.name: table.rows for table in found} == {
        name: table.rows for name, table in made(official).items()
    }


def test_a_simulated_dialog_tells_nothing_of_people(
    official: dict[str, Path], tmp_path: Path
) -> None:
    loaded = published({name: path.read_bytes() for name, path in official.items()})
    seeds = list(identified(loaded.seeds))
    for asked in seeds[-1]["questions"]:
        asked["synthetic"] = True
    found = {table.name: table for table in tables(seeds, get_protocol("quac").parameters())}
    without = {table.name: table for table in tables(seeds[:-1], get_protocol("quac").parameters())}
    for name, table in found.items():
        assert table.of_people == (name.startswith("human") or name == "people")
        assert (table.rows == without[name].rows) == table.of_people, name


def test_a_system_is_compared_with_no_simulated_person(
    official: dict[str, Path], tmp_path: Path
) -> None:
    predictions, gold = tmp_path / "predictions.jsonl", official["val_v0.2.json"]
    run("gold-sentence-na", predictions, gold, {})
    seeds = list(identified(published({gold.name: gold.read_bytes()}).seeds))
    for seed in seeds:
        for asked in seed["questions"]:
            asked["synthetic"] = True
    found = {
        table.name: table
        for table in predicted(seeds, get_protocol("quac").parameters(), predictions)
    }
    assert {row[2] for row in found["by_turn"].rows} == {None}
    assert "yes/no by majority" not in rows(found["scores"])
