"""What is refused before anything is trained: in one line, and without torch."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from annotation.baselines import training
from annotation.baselines.tests.toy import make_protocol, write_sums
from annotation.release.release_files import PRIVATE_CARD
from readers.trained import INSTALL

pytestmark = pytest.mark.pure


@pytest.fixture
def files(tmp_path, settings, monkeypatch):
    """Return the options of a run, on a machine without torch."""
    monkeypatch.setattr(training, "is_installed", lambda: False)
    folder = make_protocol(tmp_path / "protocols")
    settings.PROTOCOL_FOLDERS = [*settings.PROTOCOL_FOLDERS, folder.parent]
    return {
        "protocol": "sums",
        "train": [write_sums(tmp_path / "train.json", 4, 1)],
        "dev": write_sums(tmp_path / "dev.json", 2, 2),
        "out": tmp_path / "out",
    }


def refusal(name="adder", **options):
    """Return the one line with which the command refuses."""
    with pytest.raises(CommandError) as refused:
        call_command("baseline", name, stdout=StringIO(), **options)
    assert "\n" not in str(refused.value)
    return str(refused.value)


@pytest.mark.parametrize("more", [{}, {"estimate": True}, {"recipe": "small"}])
def test_without_torch_one_line_says_what_to_install(files, more):
    assert refusal(**files, **more) == INSTALL
    assert "make setup-readers" in INSTALL
    assert not files["out"].exists()


def test_what_is_missing_of_an_order_is_named(files):
    for name in ("train", "dev"):
        assert (
            refusal(**{**files, name: None})
            == f"Which --{name}? Only --predict knows it from --out."
        )
    assert refusal("adder", out=files["out"]).startswith("Which --protocol?")


def test_unknown_names_are_refused_with_those_that_there_are(files):
    assert "choose one of adder, wide-adder, halver, ranked-adder, unread" in refusal(
        "adderr", **files
    )
    assert "There is no protocol 'summs'" in refusal(**{**files, "protocol": "summs"})
    assert "say paper, small" in refusal(**files, recipe="large")
    assert "there is no such recipe" in refusal("unread", **files)


def test_files_that_cannot_be_read_are_named(files, tmp_path):
    empty = tmp_path / "empty.json"
    empty.write_text("")
    for each, said in {
        tmp_path / "none.json": "there is no such file",
        tmp_path: "it cannot be read",
        empty: "it is empty",
    }.items():
        assert f"{each}: {said}" in refusal(**{**files, "train": [each]})
        assert f"{each}: {said}" in refusal(**{**files, "dev": each})


@pytest.mark.parametrize(
    "name", ["test.json", "test_v0.2.json", "hotpot_test_fullwiki_v1.json", "my-TEST.json"]
)
def test_a_test_file_by_name_is_not_trained_on(files, tmp_path, name):
    path = write_sums(tmp_path / name, 3, 1)
    assert "by its name it tests systems" in refusal(**{**files, "train": [*files["train"], path]})


def test_nothing_in_the_private_part_of_a_release_is_trained_or_measured_on(files, tmp_path):
    private = tmp_path / "release-private"
    private.mkdir()
    (private / "README.md").write_text(PRIVATE_CARD)
    path = write_sums(private / "answers.json", 3, 1)
    assert "the answers in this folder are withheld" in refusal(**{**files, "train": [path]})
    assert "the answers in this folder are withheld" in refusal(**{**files, "dev": path})


def test_the_file_that_is_measured_on_is_not_learned_from(files, tmp_path):
    copied = tmp_path / "copied.json"
    copied.write_bytes(files["dev"].read_bytes())
    for each in (files["dev"], copied):
        said = refusal(**{**files, "train": [*files["train"], each]})
        assert f"{each}: it is the file that --dev measures on" in said


ONE_QUESTION = {
    "hotpotqa": (
        "baseline",
        '[{{"_id": "5ae7{0}", "question": "Who?", "context": [], "answer": "{1}"}}]',
        "5ae71",
    ),
    "quac": (
        "bidaf++",
        '{{"data": [{{"paragraphs": [{{"id": "C_{0}", "qas": [{{"question": "{1}",'
        ' "id": "C_{0}_q#0"}}]}}]}}]}}',
        "C_1",
    ),
    "iirc": ("pipeline", '[{{"questions": [{{"answer": "{1}", "qid": "q_{0}"}}]}}]', "q_1"),
}


@pytest.mark.parametrize("protocol", ONE_QUESTION)
def test_a_question_that_is_measured_on_is_not_learned_from(files, tmp_path, protocol):
    name, layout, found = ONE_QUESTION[protocol]
    train, dev, other = (tmp_path / f"{each}.json" for each in ("train", "dev", "other"))
    # The answer of both is the same word, which is no question.
    train.write_text(layout.format(2, "Shakespeare"))
    dev.write_text(layout.format(1, "Shakespeare"))
    other.write_text(layout.format(1, "Marlowe"))
    given = {**files, "protocol": protocol, "dev": dev}
    assert refusal(name, **{**given, "train": [train]}) == INSTALL
    said = refusal(name, **{**given, "train": [train, other]})
    assert f"{other}: question {found} stands in {dev} too" in said


def test_where_one_file_has_all_sets_it_is_given_twice(files, tmp_path):
    table = tmp_path / "qaps.csv"
    table.write_text("document_id,set,question\n1,train,Who?\n")
    given = {**files, "protocol": "bookqa", "train": [table], "dev": table}
    assert refusal("bart-summary", **given) == INSTALL


def item(number, **more):
    """Return a question in HotpotQA's layout."""
    return {
        "_id": f"{number:024x}",
        "question": f"Who is number {number}?",
        "context": [["One", ["A sentence."]], ["Other", ["Another."]]],
        **more,
    }


ANSWERED = {
    "answer": "yes",
    "supporting_facts": [["One", 0], ["Other", 0]],
    "type": "bridge",
    "level": "hard",
}


def test_a_gold_file_by_another_name_is_known_by_the_questions_of_the_test_beside_it(
    files, tmp_path
):
    train, dev = tmp_path / "train-all.json", tmp_path / "hotpot_dev_distractor_v1.json"
    train.write_text(json.dumps([item(1, **ANSWERED), item(7, **ANSWERED)]))
    dev.write_text(json.dumps([item(2, **ANSWERED)]))
    test = tmp_path / "hotpot_test_fullwiki_v1.json"
    test.write_text(json.dumps([item(7), item(8)]))
    hotpot = training.get_protocol("hotpotqa")
    with pytest.raises(training.ReaderError, match=f"question {7:024x} is of a test split"):
        training.check_training(hotpot, [train], dev)
    test.write_text(json.dumps([item(9), item(8)]))
    training.check_training(hotpot, [train], dev)
