"""Runs one trained baseline: what it may learn from, training, scores, card; or estimates."""

import importlib
import mmap
import re
import shlex
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

from annotation.baselines.run_folder import RunFolder, files_of, versions
from annotation.metrics.result import Result, ScoreError, read_file
from annotation.protocols.contracts import EXPORT, SCORING, TRAINED
from annotation.release.dataset_card import FILE as CARD
from annotation.release.release_files import PRIVATE_CARD
from annotation.release.release_folder import sha256_of
from collector.protocols.loading import Protocol, get_protocol
from common.command_line import MANAGE
from readers.reader import Tell, silent
from readers.trained import INSTALL, ReaderError, Trained, is_installed
from readers.trainer.recipe import PAPER, Recipe, read_recipe

if TYPE_CHECKING:
    from readers.trainer.estimate import Estimate
    from readers.trainer.run import Run


TEST = "test"
# Ids stand in official files as strings by themselves.
ID = re.compile(rb'"([^"\\\s]{8,80})"')
# What the official layouts call the id of a question.
QUESTION_ID = re.compile(rb'"(?:_id|id|qid|query_id)"\s*:\s*"([^"\\]+)"')


def check_training(protocol: Protocol, train: Iterable[Path], dev: Path) -> None:
    """Raise ReaderError, in one line, unless these files may be learned from and measured on.

    Refused are official files of test splits, whatever lies in the private part of a release, and
    files with a question of a split whose answers are withheld, as far as files of such a split
    lie beside one of these.
    """
    files = list(train)
    for path in (*files, dev):
        check_readable(path)
        if is_private(path.resolve().parent):
            raise ReaderError(
                f"{path}: the answers in this folder are withheld, so nothing is trained or "
                "chosen by them; score predictions with it instead."
            )
    for path in files:
        if TEST in words_of(path):
            raise ReaderError(
                f"{path}: by its name it tests systems, so none is trained on it; give a training "
                "file."
            )
    if not protocol.has(EXPORT) or not protocol.part(EXPORT).WITHHELD:
        return
    kept_back = set(_withheld_ids(protocol, {path.resolve().parent for path in (*files, dev)}))
    for path in files if kept_back else ():
        found = next((one for one in _matches(ID, path) if one in kept_back), None)
        if found is not None:
            raise ReaderError(
                f"{path}: question {found.decode()} is of a test split, whose answers are "
                "withheld; give a training file without it."
            )


def check_apart(train: Iterable[Path], dev: Path) -> None:
    """Raise ReaderError, in one line, where a question of dev stands in a training file too."""
    files = list(train)
    content = sha256_of(dev)
    same = next((path for path in files if sha256_of(path) == content), None)
    if same is not None:
        raise ReaderError(
            f"{same}: it is the file that --dev measures on, so what is learned by heart would "
            "count as right; give another one to learn from."
        )
    asked = set(_matches(QUESTION_ID, dev))
    for path in files if asked else ():
        found = next((one for one in _matches(QUESTION_ID, path) if one in asked), None)
        if found is not None:
            raise ReaderError(
                f"{path}: question {found.decode(errors='replace')} stands in {dev} too, so what "
                "is learned by heart would count as right; give files that share none."
            )


def is_private(folder: Path) -> bool:
    """Return whether the folder holds what a release withholds."""
    card = folder / CARD
    first = PRIVATE_CARD.partition("\n")[0]
    try:
        with card.open(encoding="utf-8", errors="replace") as file:
            return file.readline().strip() == first
    except OSError:
        return False


def words_of(path: Path) -> set[str]:
    """Return the words of a file's name."""
    return set(re.split(r"[\W_]+", path.name.lower()))


def check_readable(path: Path) -> None:
    """Raise ReaderError, in one line, unless there is something in the file."""
    try:
        with path.open("rb") as file:
            begin = file.read(1)
    except FileNotFoundError:
        raise ReaderError(f"{path}: there is no such file; check the path.") from None
    except OSError as error:
        raise ReaderError(f"{path}: it cannot be read ({error.strerror}); give a file.") from None
    if not begin:
        raise ReaderError(f"{path}: it is empty; give one with questions and answers.")


def _withheld_ids(protocol: Protocol, folders: Iterable[Path]) -> Iterator[bytes]:
    """Yield the ids of the questions in files of test splits that lie in these folders."""
    for folder in folders:
        for path in sorted(folder.glob("*.json")):
            if TEST in words_of(path):
                yield from _ids_of_questions(protocol, {path.name: read_file(path)})


def _ids_of_questions(protocol: Protocol, files: Mapping[str, bytes]) -> Iterator[bytes]:
    export = protocol.part(EXPORT)
    try:
        for seed in export.published(files).seeds:
            for question in seed["questions"]:
                if question["split"] in export.WITHHELD:
                    yield question["id"].encode()
    except ValueError:
        # It is no official file, whatever it is called.
        return


def _matches(pattern: re.Pattern[bytes], path: Path) -> Iterator[bytes]:
    """Yield what the pattern finds in a file, without reading the file into memory."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        for match in pattern.finditer(content):
            yield match[1]


ENCODER = "encoder"


@dataclass(frozen=True)
class Order:
    """What is asked for: one baseline of a protocol, from which files, into which folder.

    recipe: "paper", "small" or the path of a TOML file; encoder: blank for the recipe's, or a
    folder of models by the names that recipes have for them. stages_from: the folder of a run that
    has learned the same already; by its dev file the best weights were chosen.
    """

    protocol: Protocol
    name: str
    train: tuple[Path, ...]
    dev: Path
    out: Path
    recipe: str = PAPER
    encoder: str = ""
    seed: int = 0
    stages_from: Path | None = None
    tell: Tell = field(default=silent, compare=False)

    def command(self) -> str:
        """Return the command line that asks for the same."""
        words = ["baseline", self.name, "--protocol", self.protocol.name, "--train"]
        words += [*map(str, self.train), "--dev", str(self.dev), "--out", str(self.out)]
        words += ["--recipe", self.recipe, "--seed", str(self.seed)]
        words += ["--encoder", self.encoder] if self.encoder else []
        words += ["--learned-in", str(self.stages_from)] if self.stages_from else []
        return f"{MANAGE} {shlex.join(words)}"


@dataclass(frozen=True)
class Finished:
    """A run that is finished: its card, and whether it was finished before."""

    card: Mapping[str, Any]
    was_there: bool = False

    @property
    def result(self) -> Result:
        """Return its scores, as they are drawn."""
        return cast(Result, {**self.card["table"], "official": {}, "groups": {}})


def trained_of(protocol: Protocol) -> Mapping[str, Trained]:
    """Return a protocol's trained baselines by name; raises ReaderError where it has none."""
    if not protocol.has(TRAINED, "TRAINED"):
        raise ReaderError(f"The protocol {protocol.name!r} has no baselines that are trained.")
    return protocol.part(TRAINED).TRAINED


def named(protocol: Protocol, name: str) -> Trained:
    """Return one of them; raises ReaderError that lists them."""
    found = trained_of(protocol)
    if name not in found:
        raise ReaderError(f"There is no baseline {name!r}: choose one of {', '.join(found)}.")
    return found[name]


def train(order: Order) -> Finished:
    """Train, answer dev, score and write the card; what is there goes on, or is returned.

    Raises ReaderError or ScoreError in one line; what was trained until then is kept.
    """
    recipe, run = _run(order)
    _check_dev(order)
    folder = RunFolder(order.out)
    given = {
        "protocol": order.protocol.name,
        "baseline": order.name,
        "training files": files_of(order.train),
        "dev file": files_of([order.dev]),
        "recipe": recipe.values,
        "encoder": run.encoder,
        "seed": order.seed,
    }
    if run.chosen_by is not None:
        given["chosen by"] = files_of([run.chosen_by])
    folder.begin(given, {"train": order.train, "dev": order.dev, "recipe": order.recipe})
    before = folder.card()
    if before is not None:
        return Finished(before, was_there=True)
    began = time.monotonic()
    with folder.alone():
        if order.stages_from is not None:
            folder.take_over(order.stages_from)
        _do(order, run)
    result = _score(order, run)
    files = {"train": given["training files"], "dev": given["dev file"]}
    if "chosen by" in given:
        files["chosen by"] = given["chosen by"]
    card = _card(order, run, recipe, files, result, time.monotonic() - began)
    folder.finish(card, result)
    return Finished(card)


def estimate(order: Order) -> "Estimate":
    """Return how long it would take and in how much memory, from a few measured steps."""
    _, run = _run(order)
    _check_dev(order)
    from readers.trainer.estimate import Estimate, Measured

    run.estimate = Estimate()
    with suppress(Measured):
        _do(order, run)
    return run.estimate


def predict(order: Order, asked: Path) -> Path:
    """Return a new file in OUT with what a run that is finished answers to another file.

    Raises ReaderError in one line.
    """
    if RunFolder(order.out).card() is None:
        raise ReaderError(f"{order.out}: no run is finished there; train it first.")
    check_readable(asked)
    _, run = _run(order, only_answers=True)
    run.dev = asked
    ending = Path(run.predictions_name).suffix
    run.predictions_name = f"predictions-{asked.stem}{ending}"
    if run.predictions.exists():
        raise ReaderError(f"{run.predictions} is there already; take it away to answer again.")
    _do(order, run)
    return run.predictions


def order_of(out: Path) -> Order:
    """Return what the run in this folder was asked for; raises ReaderError where there is none."""
    told = RunFolder(out).told()
    given, where = told["given"], told["where"]
    return Order(
        protocol=get_protocol(given["protocol"]),
        name=given["baseline"],
        train=tuple(Path(each) for each in where["train"]),
        dev=Path(where["dev"]),
        out=out,
        recipe=where["recipe"],
        encoder=given["encoder"],
        seed=given["seed"],
    )


def _run(order: Order, *, only_answers: bool = False) -> "tuple[Recipe, Run]":
    """Return the recipe and the run; raises ReaderError for whatever is wrong before it begins."""
    check_training(order.protocol, order.train, order.dev)
    about = named(order.protocol, order.name)
    # Where one official file has all sets, the baseline leaves out by itself what is dev's.
    if not only_answers and about.dev_file not in about.train_files:
        check_apart(order.train, order.dev)
    recipe = read_recipe(recipe_path(order.protocol, order.name, about), order.recipe)
    if not is_installed():
        raise ReaderError(INSTALL)
    from readers.trainer.run import Run

    learns_as = named(order.protocol, about.learns_as) if about.learns_as else None
    run = Run(
        protocol=order.protocol.name,
        name=order.name,
        train=order.train,
        dev=order.dev,
        out=order.out,
        recipe=recipe,
        encoder=order.encoder or (recipe.text(ENCODER) if recipe.has(ENCODER) else ""),
        seed=order.seed,
        settings=about.settings,
        learns_as=about.learns_as,
        learned_settings=learns_as.settings if learns_as else None,
        chosen_by=_chosen_by(order, about),
        tell=order.tell,
        predictions_name=about.predictions,
        only_answers=only_answers,
    )
    return recipe, run


def _chosen_by(order: Order, about: Trained) -> Path | None:
    """Return by which file the run that learned the same chose its weights, None for dev itself.

    Raises ReaderError where that run is no such one, or is not finished.
    """
    if order.stages_from is None:
        return None
    learned = order_of(order.stages_from)
    if learned.name != about.learns_as:
        alike = f"what {about.learns_as} has" if about.learns_as else "from its own files alone"
        raise ReaderError(
            f"{order.stages_from}: {learned.name} was trained there; {order.name} learns {alike}."
        )
    if RunFolder(order.stages_from).card() is None:
        raise ReaderError(f"{order.stages_from}: no run is finished there; train it first.")
    check_readable(learned.dev)
    is_same = sha256_of(learned.dev) == sha256_of(order.dev)
    return None if is_same else learned.dev


def recipe_path(protocol: Protocol, name: str, about: Trained) -> Path:
    """Return where the baseline's recipe is."""
    return protocol.folder / "recipes" / f"{about.recipe or name}.toml"


def _do(order: Order, run: "Run") -> None:
    """Have the baseline's module do what the run says."""
    run.begin()
    if run.estimate is None:
        run.predictions.unlink(missing_ok=True)
    work: Callable[[Run], None] = _module(order).train
    work(run)


def _module(order: Order) -> ModuleType:
    package = cast(ModuleType, order.protocol.part(TRAINED)).__name__
    return importlib.import_module(named(order.protocol, order.name).module, package)


def _check_dev(order: Order) -> None:
    """Raise ReaderError now, not after hours, where what is answered cannot be scored."""
    if not order.protocol.has(SCORING) or hasattr(_module(order), "score"):
        return
    try:
        order.protocol.part(SCORING).check_gold(order.dev)
    except ScoreError as error:
        raise ReaderError(f"--dev must hold questions with their answers. {error}") from None


def _score(order: Order, run: "Run") -> Result:
    if not run.predictions.exists():
        raise ReaderError(f"{run.predictions}: the baseline wrote no predictions.")
    own: Callable[[Run], Result] | None = getattr(_module(order), "score", None)
    if own is not None:
        return own(run)
    about = named(order.protocol, order.name)
    if not order.protocol.has(SCORING):
        raise ScoreError(f"The protocol {order.protocol.name!r} lacks {SCORING.name}.py: write it.")
    return order.protocol.part(SCORING).score(run.predictions, order.dev, about.scoring)


def _card(
    order: Order,
    run: "Run",
    recipe: Recipe,
    files: Mapping[str, object],
    result: Result,
    seconds: float,
) -> dict[str, object]:
    """Return everything that is needed to repeat the run, and what came of it."""
    return {
        "protocol": order.protocol.name,
        "name": order.name,
        "about": named(order.protocol, order.name).about,
        "command": order.command(),
        "seed": order.seed,
        "recipe": {"name": recipe.name, "values": recipe.values, "sources": recipe.sources},
        "encoder": run.encoder_of(),
        "encoders": run.encoders,
        "files": files,
        "stages": {name: vars(fitted) for name, fitted in run.stages.items()},
        "facts": run.facts,
        "scores": result["official"],
        "groups": result["groups"],
        "beside": result.get("beside", {}),
        "table": {key: result[key] for key in ("columns", "rows", "notes")},
        "predictions": run.predictions.name,
        "versions": versions(),
        **run.machine,
        "seconds": round(seconds, 1),
    }
