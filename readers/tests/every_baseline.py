"""What must hold of every trained baseline of a protocol, from the files of a release.

Each protocol's tests give the files and tiny models; all else is the same for all of them.
"""

import json
import random
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from unittest import mock

import torch

from annotation.baselines.training import Order, estimate, named, recipe_path, train
from collector.protocols.loading import get_protocol
from readers.tests.adding import Killed
from readers.trained import Trained
from readers.trainer.estimate import STEPS as STEPS_MEASURED
from readers.trainer.recipe import Training, read_recipe
from readers.trainer.run import Run
from readers.trainer.trainer import FITTED, STEPS

# Of every stage: three steps of two batches each, and a checkpoint after each.
SHORT = {"epochs": 9, "max_steps": 3, "batch": 2, "accumulate": 2, "checkpoint_steps": 1}
SHORT |= {"dev_steps": 2, "answer_batch": 4}
SMALL_STEPS = {"batch": 2, "accumulate": 1, "answer_batch": 2}
DROPOUTS = (
    *("hidden_dropout_prob", "attention_probs_dropout_prob"),
    *("dropout", "dropout_rate", "resid_pdrop", "embd_pdrop", "attn_pdrop"),
)

# A batch, by stage, step and its number in the step; or a stage that is trained.
Event = tuple[str, int, int] | tuple[str, str]


def order_of(protocol: str, name: str, release: Path, out: Path, **given: Any) -> Order:
    """Return what `baseline NAME --release` asks for; rankings that it needs are in the folder."""
    told = get_protocol(protocol)
    about = named(told, name)
    files = [*about.train_files, *(_predictions(told, each) for each in about.needs)]
    paths = tuple(release / file for file in files)
    return Order(told, name, paths, release / about.dev_file, out, **given)


def models_of(protocol: str) -> set[str]:
    """Return the names of all models that the papers' recipes of a protocol begin with."""
    found = set()
    for path in (get_protocol(protocol).folder / "recipes").glob("*.toml"):
        recipe = read_recipe(path)
        stages = [key for key, value in recipe.values.items() if isinstance(value, dict)]
        found |= {recipe.of(stage).text("encoder") for stage in ("", *stages)}
    return found


def with_dropout(models: Path) -> Path:
    """Switch dropout on in all models of a folder, so that chance matters."""
    for path in models.rglob("config.json"):
        told = json.loads(path.read_text("utf-8"))
        told |= {key: 0.1 for key in DROPOUTS if key in told}
        path.write_text(json.dumps(told), "utf-8")
    return models


def learners_of(baselines: Mapping[str, Trained], *of_data: str) -> list[str]:
    """Return the names of one baseline for each learner there is.

    of_data: settings that say what is read, not how it is learned.
    """
    found: dict[str, str] = {}
    for name, about in baselines.items():
        if about.learns_as or not about.train_files:
            continue
        settings = {key: value for key, value in about.settings.items() if key not in of_data}
        found.setdefault(f"{about.module} {about.recipe} {sorted(settings.items())}", name)
    return list(found.values())


def check_killed(order: Order, folder: Path, **values: Any) -> None:
    """Assert that a run that is killed and begun again leaves what an undisturbed one does.

    It is killed twice, where the baseline's name draws: between the batches of a step, and when a
    stage is trained. values: of the recipe, for all stages.
    """
    recipe = _own_recipe(order, folder / "short.toml", {**SHORT, **values})
    whole, killed = (
        replace(order, recipe=str(recipe), out=folder / name) for name in ("whole", "killed")
    )
    undisturbed = Watch()
    with watched(undisturbed):
        train(whole)
    assert undisturbed.by_chance, "dropout is off"
    kills = _drawn(undisturbed.seen, random.Random(order.name))
    dying = Watch(list(kills))
    for _ in kills:
        with watched(dying):
            try:
                train(killed)
            except Killed:
                continue
            raise AssertionError(f"it was not killed at {dying.kills[0]}")
    train(killed)
    one, other = (left_in(each.out) for each in (whole, killed))
    assert one.keys() == other.keys()
    assert [name for name in one if one[name] != other[name]] == []


def check_estimate(order: Order, folder: Path) -> None:
    """Assert that an estimate of the paper's recipe tells time and memory of every stage.

    Steps are of two items, so that what is asked is quick; all else is the paper's.
    """
    recipe = _own_recipe(order, folder / "small-steps.toml", SMALL_STEPS)
    order = replace(order, recipe=str(recipe), out=folder / "out")
    found = estimate(order).plain()
    assert found["stages"]
    for stage in found["stages"]:
        assert stage["steps"] >= stage["looks"]
        assert 1 <= stage["steps_measured"] <= STEPS_MEASURED
        assert stage["seconds_a_step"] > 0
        assert stage["disk_bytes"] > 4 * stage["parameters"] > 0
    assert found["seconds"] > found["seconds_to_answer"] > 0
    assert found["peak_bytes"] > 0
    assert not order.out.exists()


@dataclass
class Watch:
    """Sees what a run does, and kills it at the first of what it is told."""

    kills: list[Event] = field(default_factory=list)
    seen: list[Event] = field(default_factory=list)
    by_chance: bool = False

    def see(self, event: Event) -> None:
        """Keep what happens next, which it does not live to do if it is to be killed there."""
        self.seen.append(event)
        if self.kills and event == self.kills[0]:
            raise Killed


@contextmanager
def watched(watch: Watch) -> Iterator[None]:
    """Have all that runs train seen."""
    if watch.seen and watch.kills:
        watch.kills.pop(0)
    fit = Run.fit

    def seen(run: Run, learner: Any, *given: Any, **named: Any) -> None:
        stage = given[2] if len(given) > 2 else named.get("stage", "reader")
        loss, at_step = learner.loss, getattr(learner, "at_step", None)
        place = [0, 0]

        def stepping(step: int, total: int) -> None:
            place[:] = step, 0
            if at_step is not None:
                at_step(step, total)

        def mortal(items: Any) -> torch.Tensor:
            watch.see((stage, *place))
            place[1] += 1
            before = torch.get_rng_state()
            found: torch.Tensor = loss(items)
            watch.by_chance |= not torch.equal(before, torch.get_rng_state())
            return found

        learner.loss, learner.at_step = mortal, stepping
        try:
            fit(run, learner, *given, **named)
        finally:
            del learner.loss, learner.at_step
        watch.see((stage, "trained"))

    with mock.patch.object(Run, "fit", seen):
        yield


def left_in(out: Path) -> dict[str, object]:
    """Return what a run leaves that must be the same again: weights, log and answers."""
    found: dict[str, object] = {}
    for path in sorted(out.rglob("*")):
        name = str(path.relative_to(out))
        if path.name == STEPS:
            lines = map(json.loads, path.read_text("utf-8").splitlines())
            found[name] = [{**line, "seconds": 0} for line in lines]
        elif path.name == FITTED:
            found[name] = {**json.loads(path.read_text("utf-8")), "seconds": 0}
        elif path.suffix == ".pt" or path.name.startswith("predictions"):
            found[name] = path.read_bytes()
    assert any(name.endswith(".pt") for name in found)
    assert any(name.startswith("predictions") for name in found)
    return found


def _predictions(protocol: Any, name: str) -> str:
    return named(protocol, name).predictions


def _own_recipe(order: Order, path: Path, values: dict[str, Any]) -> Path:
    """Write a recipe of one's own, of these values for every stage, and return its path."""
    about = named(order.protocol, order.name)
    paper = read_recipe(recipe_path(order.protocol, order.name, about)).values
    stages = [key for key, value in paper.items() if isinstance(value, dict)]
    known = {*Training.model_fields, *paper, *(key for name in stages for key in paper[name])}
    lines = [f"{key} = {json.dumps(value)}" for key, value in values.items() if key in known]
    text = "\n".join([*lines, *(line for name in stages for line in (f"[{name}]", *lines))])
    path.write_text(text, "utf-8")
    return path


def _drawn(seen: list[Event], rng: random.Random) -> list[Event]:
    """Return where a run is killed, in order."""
    # Not in the first step, before which there is no checkpoint to go on from.
    within = [event for event in seen if len(event) == 3 and event[1] > 0 and event[2] > 0]
    trained = [event for event in seen if event[1] == "trained"]
    return sorted([rng.choice(within), rng.choice(trained)], key=seen.index)
