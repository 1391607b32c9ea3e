"""The command that trains a baseline: as a person calls it, killed and begun again, estimated."""

import json
import os
import resource
import subprocess
import sys
import time
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
import torch
from django.conf import settings as django_settings
from django.core.management import CommandError, call_command

from annotation.baselines import training
from annotation.baselines.tests.toy import make_protocol, write_sums
from readers.tests.adding import Adder, sums
from readers.trainer.estimate import Estimate, Measured
from readers.trainer.recipe import Recipe
from readers.trainer.run import Run

torch.set_num_threads(1)


@pytest.fixture
def files(tmp_path, settings):
    """Return the options of a run of the baseline that adds."""
    folder = make_protocol(tmp_path / "protocols")
    settings.PROTOCOL_FOLDERS = [*settings.PROTOCOL_FOLDERS, folder.parent]
    return {
        "protocol": "sums",
        "train": [write_sums(tmp_path / "train.json", 22, 1)],
        "dev": write_sums(tmp_path / "dev.json", 6, 2),
        "out": tmp_path / "out",
    }


def run(name="adder", **options):
    out = StringIO()
    call_command("baseline", name, stdout=out, **options)
    return out.getvalue()


def weights_in(folder):
    """Return the weights that are kept, by stage and file."""
    return {
        str(path.relative_to(folder)): path.read_bytes() for path in folder.glob("*/weights-*.pt")
    }


def test_it_trains_answers_scores_and_says_how(files):
    printed = run(**files)
    out = files["out"]
    assert "right" in printed
    assert str(out / "predictions.json") in printed
    card = json.loads((out / "card.json").read_text())
    assert card["stages"]["second"]["steps"] == 30
    assert card["stages"]["first"]["items"] == 22
    assert card["facts"] == {"width": 8}
    assert card["recipe"]["sources"]["epochs"] == "source: Sums 1"
    assert set(card["files"]["train"]) == {"train.json"}
    assert card["versions"]["torch"] == torch.__version__
    readme = (out / "README.md").read_text()
    assert card["command"] in readme
    assert "source: Sums 2" in readme
    scored = StringIO()
    call_command(
        "score",
        str(out / "predictions.json"),
        str(files["dev"]),
        protocol="sums",
        json=True,
        stdout=scored,
    )
    assert json.loads(scored.getvalue()) == {**card["scores"], "by": card["groups"]}


def test_the_card_tells_everything_that_is_needed_to_repeat_it(files, tmp_path):
    run(**files)
    command = json.loads((files["out"] / "card.json").read_text())["command"].split()
    again = tmp_path / "again"
    words = [str(again) if word == str(files["out"]) else word for word in command]
    call_command(*words[words.index("baseline") :], stdout=StringIO())
    assert weights_in(again) == weights_in(files["out"]) != {}
    cards = [json.loads((out / "card.json").read_text()) for out in (again, files["out"])]
    assert cards[0]["scores"] == cards[1]["scores"]


def test_what_is_finished_is_said_to_be_and_not_trained_again(files):
    run(**files)
    before = weights_in(files["out"]), (files["out"] / "card.json").read_text()
    assert "is finished already" in run(**files)
    assert (weights_in(files["out"]), (files["out"] / "card.json").read_text()) == before


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({"seed": 1}, "another seed;"),
        ({"recipe": "small"}, "another recipe;"),
        ({"name": "wide-adder"}, "another baseline;"),
        ({"encoder": "tiny"}, "another encoder;"),
    ],
)
def test_a_folder_of_another_run_is_refused(files, other, said):
    run(**files, recipe="paper")
    with pytest.raises(CommandError, match=said):
        run(**{**files, **other})


def test_a_folder_of_other_files_is_refused(files):
    run(**files)
    write_sums(files["dev"], 6, 3)
    with pytest.raises(CommandError, match="it holds a run with another dev file;"):
        run(**files)


def test_a_folder_with_something_else_in_it_is_refused(files):
    files["out"].mkdir()
    (files["out"] / "notes.txt").write_text("mine")
    with pytest.raises(CommandError, match="it holds something else"):
        run(**files)


def test_another_file_is_answered_by_what_was_trained(files, tmp_path):
    run(**files)
    before = weights_in(files["out"])
    asked = write_sums(tmp_path / "test.json", 4, 9, answered=False)
    printed = run(out=files["out"], predict=asked)
    answers = json.loads((files["out"] / "predictions-test.json").read_text())
    assert printed.strip() == str(files["out"] / "predictions-test.json")
    assert list(answers) == [f"test-{at:08}" for at in range(4)]
    assert weights_in(files["out"]) == before
    with pytest.raises(CommandError, match="is there already"):
        run(out=files["out"], predict=asked)


def test_nothing_is_answered_by_what_is_not_trained_yet(files, tmp_path):
    with pytest.raises(CommandError, match="no run was begun there"):
        run(out=files["out"], predict=files["dev"])

    def stop(step, done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        training.train(replace(order_of(files), tell=stop))
    with pytest.raises(CommandError, match="no run is finished there"):
        run(out=files["out"], predict=files["dev"])


def test_an_estimate_says_what_was_measured_and_writes_nothing(files):
    found = json.loads(run(**files, estimate=True, json=True))
    assert [stage["name"] for stage in found["stages"]] == ["first", "second"]
    assert [stage["steps"] for stage in found["stages"]] == [24, 30]
    assert [stage["looks"] for stage in found["stages"]] == [4, 5]
    assert all(stage["steps_measured"] > 0 for stage in found["stages"])
    total = found["seconds_to_answer"] + sum(
        stage["steps"] * stage["seconds_a_step"] + stage["looks"] * stage["seconds_a_look"]
        for stage in found["stages"]
    )
    assert found["seconds"] == pytest.approx(total)
    assert found["peak_bytes"] > 2**20
    assert found["disk_bytes"] == sum(stage["disk_bytes"] for stage in found["stages"])
    parameters = found["stages"][0]["parameters"]
    assert found["stages"][0]["disk_bytes"] >= (2 * 3 + 2) * 4 * parameters
    assert not files["out"].exists()
    words = " ".join(run(**files, estimate=True).split())
    assert "Nothing was trained or written." in words
    assert "5 measured" in words
    assert "Left out: reading files, cutting texts" in words


def test_an_estimate_leaves_the_predictions_of_a_finished_run(files):
    run(**files)
    before = (files["out"] / "predictions.json").read_bytes()
    run(**files, estimate=True)
    assert (files["out"] / "predictions.json").read_bytes() == before


SLOWED_SECONDS = 0.02


def slowly(work):
    """Return the same, taking so long that little else counts."""

    def slow(self, items):
        time.sleep(SLOWED_SECONDS)
        return work(self, items)

    return slow


@pytest.fixture
def _slow(monkeypatch):
    monkeypatch.setattr(Adder, "loss", slowly(Adder.loss))
    monkeypatch.setattr(Adder, "answers", slowly(Adder.answers))


@pytest.mark.usefixtures("_slow")
def test_an_estimate_is_of_the_order_of_what_it_takes(files):
    run(**files)
    card = json.loads((files["out"] / "card.json").read_text())
    took, steps = card["seconds"], sum(stage["steps"] for stage in card["stages"].values())
    files["out"] = files["out"].with_name("none")
    found = json.loads(run(**files, estimate=True, json=True))
    # Each step is slowed, so that less is not counted; how much more it takes, the machine decides.
    assert SLOWED_SECONDS * steps < found["seconds"] < 20 * took + 1


@pytest.mark.usefixtures("_slow")
def test_an_estimate_counts_what_is_answered_between_stages(files):
    def work(estimate):
        values = {"epochs": 1, "batch": 4, "optimizer": "adam", "learning_rate": 0.01}
        recipe = Recipe("tests", values)
        given = Run("sums", "adder", (), files["dev"], files["out"], recipe, estimate=estimate)
        first, second, asked = Adder(), Adder(), sums(120)
        given.out.mkdir(exist_ok=True)
        given.fit(first, sums(8), [], "first")
        given.answers(first, asked, stand_in=[0.0 for _ in asked])
        given.fit(second, sums(8), [], "second")
        given.predictions.write_text("{}")

    began = time.monotonic()
    work(None)
    took = time.monotonic() - began
    found = Estimate()
    with pytest.raises(Measured):
        work(found)
    assert [stage.name for stage in found.stages] == ["first", "second"]
    slowed = 2 + 2 + -(-len(sums(120)) // 4)
    assert SLOWED_SECONDS * slowed < found.seconds < 20 * took + 1


def test_a_dev_file_without_answers_is_refused_before_anything_is_trained(files):
    write_sums(files["dev"], 2, 2, answered=False)
    for more in ({}, {"estimate": True}):
        with pytest.raises(CommandError) as refused:
            run(**files, **more)
        said = str(refused.value)
        assert said.startswith("--dev must hold questions with their answers.")
        assert "dev.json: it has no answers" in said
    assert not files["out"].exists()


def test_two_processes_do_not_train_in_one_folder(files):
    with pytest.raises(CommandError, match="another process trains there"):
        train_within_itself(files)
    assert "right" in run(**files)


def train_within_itself(files):
    """Train, and in the middle of it begin the same once more."""
    work = order_of(files)
    begun = []

    def tell(step, done, total):
        if not begun:
            begun.append(step)
            run(**files)

    try:
        training.train(replace(work, tell=tell))
    except CommandError as error:
        assert begun
        raise error


def test_a_run_does_not_go_on_with_an_encoder_whose_weights_were_replaced(files, tmp_path):
    encoder = tmp_path / "encoder"
    encoder.mkdir()
    weights = encoder / "model.safetensors"
    weights.write_bytes(b"these")

    def tell(step, done, total):
        if step.startswith("second") and done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        training.train(replace(order_of(files), encoder=str(encoder), tell=tell))
    weights.write_bytes(b"those")
    with pytest.raises(CommandError, match="of another recipe, seed, encoder or other files"):
        run(**files, encoder=str(encoder))
    weights.write_bytes(b"these")
    run(**files, encoder=str(encoder))
    assert (files["out"] / "card.json").exists()


def order_of(files):
    protocol = training.get_protocol("sums")
    return training.Order(protocol, "adder", tuple(files["train"]), files["dev"], files["out"])


def test_weights_that_are_not_what_was_trained_answer_nothing(files, tmp_path):
    run(**files)
    path = next((files["out"] / "second").glob("weights-*.pt"))
    path.write_bytes(b"no weights")
    with pytest.raises(CommandError, match="missing or not what was trained"):
        run(out=files["out"], predict=write_sums(tmp_path / "more.json", 4, 9))


@pytest.mark.parametrize("room", [3000, 9000, 20000])
def test_where_no_more_can_be_written_what_was_trained_is_kept_and_goes_on(files, tmp_path, room):
    run(**{**files, "out": tmp_path / "undisturbed"})
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, before[1]))
    try:
        with pytest.raises(CommandError, match=r"cannot be written .* is kept: make room") as said:
            run(**files)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert "\n" not in str(said.value)
    assert not list(files["out"].rglob("*.new"))
    run(**files)
    assert weights_in(files["out"]) == weights_in(tmp_path / "undisturbed")


def killed(files, at=""):
    """Run the real command in a process of its own; return how it ended."""
    words = [sys.executable, "manage.py", "baseline", "adder", "--protocol", "sums"]
    words += ["--train", str(files["train"][0]), "--dev", str(files["dev"])]
    words += ["--out", str(files["out"])]
    home = files["dev"].parent / "home"
    own = {"KILL_AT": at, "COLLECTOR_HOME": str(home), "OMP_NUM_THREADS": "1"}
    own["COLLECTOR_PROTOCOLS"] = str(files["dev"].parent / "protocols")
    done = subprocess.run(
        words,
        cwd=django_settings.BASE_DIR,
        env={**os.environ, **own},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stderr


def test_the_command_killed_again_and_again_trains_the_same_weights(files, tmp_path):
    run(**{**files, "out": tmp_path / "undisturbed"})
    for at in ("first:8", "second:3", "second:29"):
        assert killed(files, at)[0] == -9
        assert not (files["out"] / "card.json").exists()
    assert killed(files) == (0, "")
    assert weights_in(files["out"]) == weights_in(tmp_path / "undisturbed") != {}
    for name in ("predictions.json", "first/steps.jsonl", "second/steps.jsonl"):
        assert told(files["out"] / name) == told(tmp_path / "undisturbed" / name)


def told(path):
    """Return the objects of a file's lines, without times."""
    rows = [json.loads(line) for line in Path(path).read_text().splitlines()]
    return [{key: each for key, each in row.items() if key != "seconds"} for row in rows]
