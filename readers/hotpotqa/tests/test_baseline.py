"""Each baseline learns from official files, writes official predictions, says what it left out."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from annotation.protocols.hotpotqa.baselines import TRAINED
from annotation.protocols.hotpotqa.scoring import score
from readers.hotpotqa.baseline import train
from readers.hotpotqa.difficulty_reader import RECIPE
from readers.hotpotqa.network import NAMES
from readers.hotpotqa.tests.making import TINY, items, recipe, write
from readers.trained import ReaderError
from readers.trainer.recipe import read_recipe, unsourced
from readers.trainer.run import Run


def run_of(folder, name="baseline", dev=None, chosen=None, **given):
    """Return a tiny run of a baseline."""
    folder.mkdir(exist_ok=True)
    return Run(
        protocol="hotpotqa",
        name=name,
        train=(write(folder / "hotpot_train_v1.1.json", items(12)),),
        dev=write(folder / "hotpot_dev_distractor_v1.json", dev or items(4)),
        out=folder,
        recipe=chosen or recipe(),
        settings=TRAINED[name].settings,
        **given,
    )


def trained(folder, *args, **given):
    run = run_of(folder, *args, **given)
    run.begin()
    train(run)
    return run, json.loads(run.predictions.read_text("utf-8"))


MODULE = "readers.hotpotqa.baseline"
BY_THE_NETWORK = [name for name, about in TRAINED.items() if about.module == MODULE]


@pytest.mark.parametrize("name", BY_THE_NETWORK)
def test_each_of_them_writes_official_predictions_that_can_be_scored(tmp_path, name):
    run, predictions = trained(tmp_path, name)
    asked = {item["_id"]: item for item in items(4)}
    assert predictions["answer"].keys() == asked.keys()
    tells_facts = run.settings.get("facts", True)
    assert predictions["sp"].keys() == (asked.keys() if tells_facts else set())
    for key, facts in predictions["sp"].items():
        titles = [title for title, _ in asked[key]["context"]]
        assert all(title in titles and isinstance(number, int) for title, number in facts)
    scored = score(run.predictions, run.dev, TRAINED[name].scoring)
    keys = {key.rpartition(": ")[2] for key in TRAINED[name].paper}
    assert keys <= scored["official"].keys()
    groups = {key.partition(": ")[0] for key in TRAINED[name].paper if ": " in key}
    assert groups <= scored["groups"].keys()


def test_what_is_left_out_is_told(tmp_path):
    run, _ = trained(tmp_path, "baseline-no-easy-no-medium")
    assert run.facts["left_out_by_level"] == 8
    assert run.facts["learned_from"] == 4


def test_the_same_seed_gives_the_same_predictions(tmp_path):
    first, predictions = trained(tmp_path / "one", seed=3)
    again, repeated = trained(tmp_path / "two", seed=3)
    assert predictions == repeated
    assert first.stages["reader"].sha256 == again.stages["reader"].sha256


def test_too_long_contexts_are_cut_and_as_published_left_out(tmp_path):
    [short, long] = items(2)
    long["context"] += [[f"Fleam {at}", ["Fleam is a town."]] for at in range(9)]
    limits = {"max_tokens": 60}
    _, cut = trained(tmp_path / "cut", dev=[short, long], chosen=recipe(**limits))
    assert cut["answer"].keys() == {"q0", "q1"}
    _, left = trained(tmp_path / "left", dev=[short, long], chosen=recipe(**limits, leave_out=True))
    assert left["answer"].keys() == {"q0"}


def test_another_file_can_be_answered_that_has_no_answers(tmp_path):
    run, _ = trained(tmp_path)
    public = [{name: item[name] for name in ("_id", "question", "context")} for item in items(3)]
    asked = run_of(tmp_path)
    asked.dev = write(tmp_path / "hotpot_test_fullwiki_v1.json", public)
    asked.only_answers, asked.predictions_name = True, "predictions-test.json"
    asked.begin()
    train(asked)
    answers = json.loads(asked.predictions.read_text("utf-8"))["answer"]
    assert answers.keys() == {"q0", "q1", "q2"}
    assert asked.stages["reader"].sha256 == run.stages["reader"].sha256


def test_vectors_of_a_file_are_kept_as_they_are(tmp_path):
    file = tmp_path / "vectors.txt"
    file.write_text("leader .1 .2 .3\nbrook .5 .5 .5\nborn .3 .2 .1\n")
    run, _ = trained(tmp_path, chosen=recipe(vectors=str(file)))
    assert run.facts["words_with_vectors_of_the_file"] == 2, "Brook stands there with a capital"
    assert run.facts["words"] == 4


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"encoder": "bert-base-uncased"}, "no encoder but word vectors"),
        ({"chosen": recipe(vectors="nowhere.txt")}, "nowhere.txt: vectors cannot be read"),
        ({"chosen": recipe(max_tokens=3, leave_out=True)}, "No question is left to learn from"),
    ],
)
def test_what_cannot_be_trained_is_refused_in_one_line(tmp_path, given, said):
    with pytest.raises(ReaderError, match=said) as refused:
        trained(tmp_path, **given)
    assert "\n" not in str(refused.value)


def test_a_file_without_answers_is_not_learned_from(tmp_path):
    run = run_of(tmp_path)
    public = [{name: item[name] for name in ("_id", "question", "context")} for item in items(3)]
    run.train = (write(tmp_path / "questions.json", public),)
    with pytest.raises(ReaderError, match=r"questions.json: its questions have no answers"):
        train(run)


def test_every_number_of_the_recipe_has_its_source():
    assert unsourced(RECIPE) == []
    for name in ("paper", "small"):
        chosen = read_recipe(RECIPE, name)
        assert chosen.training().epochs
        assert not any(chosen.flag(quirk) for quirk in NAMES)


@pytest.fixture
def call(tmp_path):
    """Return a function that trains a baseline by the command, tiny, and returns its card."""
    train = write(tmp_path / "hotpot_train_v1.1.json", items(12))
    tiny = tmp_path / "tiny.toml"
    tiny.write_text("".join(f"{key} = {value}\n" for key, value in TINY.items()), "utf-8")

    def call(name, dev, out, **options):
        files = {"train": [train], "dev": tmp_path / dev, "out": tmp_path / out}
        given = {"protocol": "hotpotqa", "recipe": str(tiny), "seed": 3, **options}
        call_command("baseline", name, stdout=StringIO(), **files, **given)
        return json.loads((tmp_path / out / "card.json").read_text("utf-8"))

    return call


@pytest.fixture
def settings_of_dev(tmp_path):
    """Write dev in both settings: retrieval found nothing of the second question's."""
    asked = [{**item, "_id": f"dev{at}"} for at, item in enumerate(items(4))]
    for item in asked:
        item["question"] += " Tell me."
    write(tmp_path / "distractor.json", asked)
    lost = [["Cape Tarn", ["Nobody was ever born there."]]]
    write(tmp_path / "full.json", [asked[0], {**asked[1], "context": lost}, *asked[2:]])


@pytest.mark.usefixtures("settings_of_dev")
def test_one_training_is_asked_in_both_settings(tmp_path, call):
    told = call("baseline", "distractor.json", "both")
    again = call("baseline-full-wiki", "full.json", "full", learned_in=tmp_path / "both")
    assert told["stages"] == again["stages"]
    weights = [sorted((tmp_path / out).glob("*/weights-*.pt")) for out in ("both", "full")]
    assert [one.samefile(other) for one, other in zip(*weights, strict=True)] == [True]
    assert again["files"]["chosen by"] == told["files"]["dev"]
    assert "--learned-in" in again["command"]
    asked = [
        json.loads((tmp_path / out / "predictions.json").read_text()) for out in ("both", "full")
    ]
    assert asked[0]["answer"]["dev1"] != asked[1]["answer"]["dev1"]
    assert asked[0]["answer"]["dev0"] == asked[1]["answer"]["dev0"]
    # With nothing to take over it still learns by itself, and chooses by what it is given.
    alone = call("baseline-full-wiki", "full.json", "alone")
    assert "chosen by" not in alone["files"]


@pytest.mark.usefixtures("settings_of_dev")
def test_what_was_not_learned_by_the_same_is_not_taken_over(tmp_path, call):
    call("baseline-no-facts", "distractor.json", "bare")
    with pytest.raises(CommandError, match="baseline-full-wiki learns what baseline has"):
        call("baseline-full-wiki", "full.json", "full", learned_in=tmp_path / "bare")
    with pytest.raises(CommandError, match="baseline learns from its own files alone"):
        call("baseline", "full.json", "full", learned_in=tmp_path / "bare")
    with pytest.raises(CommandError, match="no run was begun there"):
        call("baseline-full-wiki", "full.json", "full", learned_in=tmp_path / "nowhere")
    call("baseline", "distractor.json", "both")
    (tmp_path / "both" / "card.json").unlink()
    with pytest.raises(CommandError, match="no run is finished there"):
        call("baseline-full-wiki", "full.json", "full", learned_in=tmp_path / "both")
