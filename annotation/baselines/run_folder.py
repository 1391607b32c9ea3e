"""A run's folder: whose it is, and the card with everything that is needed to repeat it."""

import fcntl
import json
import os
import platform
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from annotation.metrics.result import Result
from annotation.release.release_folder import sha256_of
from annotation.tables.table import Table, markdown
from readers.trained import ReaderError

LOCK = ".lock"
# In the folder of a stage that is trained to its end.
FITTED = "fitted.json"
RUN, CARD, README = "run.json", "card.json", "README.md"
LIBRARIES = ("torch", "transformers", "collector", "numpy", "spacy")


@dataclass(frozen=True)
class RunFolder:
    """The folder OUT of one run."""

    path: Path

    def begin(self, given: Mapping[str, object], where: Mapping[str, object]) -> None:
        """Make the folder, or take it up again; raises ReaderError where it is of another run.

        given: everything that the result follows from; where: where it was found.
        """
        mine = json.loads(json.dumps(given, default=str))
        if not (self.path / RUN).exists():
            self._make({"given": mine, "where": where})
            return
        before = self.told()["given"]
        other = [key for key in {**mine, **before} if mine.get(key) != before.get(key)]
        if other:
            raise ReaderError(
                f"{self.path}: it holds a run with another {' and another '.join(other)}; name a "
                f"new --out, or repeat what its {RUN} says."
            )

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep every other process from training in the folder; raises ReaderError where one does.

        What holds the lock is the process itself: one that was killed holds it no longer.
        """
        with (self.path / LOCK).open("w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise ReaderError(
                    f"{self.path}: another process trains there; wait for it, or name a new --out."
                ) from None
            yield

    def take_over(self, other: Path) -> None:
        """Have the stages that another run has finished; whose they are the trainer looks at."""
        for done in sorted(other.glob(f"*/{FITTED}")):
            mine = self.path / done.parent.name
            if (mine / FITTED).exists():
                continue
            mine.mkdir(exist_ok=True)
            # Last what says that it is finished.
            files = [*done.parent.glob("weights-*.pt"), *done.parent.glob("*.jsonl"), done]
            for path in files:
                _same_file(path, mine / path.name)

    def told(self) -> dict[str, Any]:
        """Return "given" and "where" of the run that was begun here; raises ReaderError."""
        path = self.path / RUN
        try:
            told: dict[str, Any] = json.loads(path.read_text("utf-8"))
            return {"given": dict(told["given"]), "where": dict(told["where"])}
        except FileNotFoundError:
            raise ReaderError(f"{self.path}: no run was begun there; check the path.") from None
        except (OSError, ValueError, KeyError, TypeError):
            raise ReaderError(f"{path}: it cannot be read; name a new --out.") from None

    def card(self) -> dict[str, Any] | None:
        """Return the card of a run that is finished, None before."""
        try:
            card: dict[str, Any] = json.loads((self.path / CARD).read_text("utf-8"))
        except (OSError, ValueError):
            return None
        return card

    def finish(self, card: Mapping[str, object], result: Result) -> None:
        """Write the card, for machines and for people."""
        write_text(self.path / README, _readme(card, result))
        # Last: with it the run is finished.
        write_text(self.path / CARD, _json(card))

    def _make(self, told: Mapping[str, object]) -> None:
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ReaderError(
                f"{self.path}: it cannot be made ({error.strerror}); name another --out."
            ) from None
        if any(not path.name.endswith(".new") for path in self.path.iterdir()):
            raise ReaderError(f"{self.path}: it holds something else; name a new --out.")
        write_text(self.path / RUN, _json(told))


def _same_file(path: Path, target: Path) -> None:
    """Have the file at another place too, without a copy where the file system allows it."""
    target.unlink(missing_ok=True)
    try:
        os.link(path, target)
    except OSError:
        shutil.copyfile(path, target)


def write_text(path: Path, text: str) -> None:
    """Write a file whole or not at all; raises ReaderError where it cannot be."""
    beside = path.with_name(f".{path.name}.new")
    try:
        with beside.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise ReaderError(
            f"{path}: it cannot be written ({error.strerror}); what was trained is kept: make "
            "room and run the same command again."
        ) from error


def _json(value: Mapping[str, object]) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False, default=_plain) + "\n"


def _plain(value: object) -> object:
    return str(value.resolve()) if isinstance(value, Path) else str(value)


def files_of(paths: Iterable[Path]) -> dict[str, str]:
    """Return the SHA-256 of each file by its name; the second of one name is called NAME (2)."""
    found: dict[str, str] = {}
    names: list[str] = []
    for path in paths:
        names.append(path.name)
        number = names.count(path.name)
        found[path.name if number == 1 else f"{path.name} ({number})"] = sha256_of(path)
    return found


def versions() -> dict[str, str]:
    """Return the versions of what a result may depend on."""
    found = {"python": platform.python_version()}
    for name in LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _readme(card: Mapping[str, object], result: Result) -> str:
    """Return the card in Markdown."""
    cells: Any = card
    parts = [
        f"# {cells['protocol']}: {cells['name']}\n",
        f"{cells['about']}\n",
        markdown(Table("scores", "Scores on dev", result["columns"], result["rows"])),
        *[f"{note}\n" for note in result["notes"]],
        "## Again\n",
        f"```\n{cells['command']}\n```\n",
        markdown(_table_of("what", "With what", _flat(_with_what(cells)))),
        markdown(_recipe_table(cells)),
    ]
    return "\n".join(parts)


def _with_what(card: Mapping[str, Any]) -> dict[str, object]:
    kept = ("seed", "encoder", "encoders", "files", "device", "threads", "seconds")
    told = {key: card[key] for key in kept if card.get(key) not in (None, "")}
    return {**told, "versions": card["versions"], **card["facts"], "stages": card["stages"]}


def _recipe_table(card: Mapping[str, Any]) -> Table:
    sources = card["recipe"]["sources"]
    rows = [[key, said, sources.get(key, "")] for key, said in _flat(card["recipe"]["values"])]
    return Table("recipe", f"Recipe: {card['recipe']['name']}", ["key", "value", "from"], rows)


def _table_of(name: str, title: str, rows: Iterable[tuple[str, str]]) -> Table:
    return Table(name, title, ["what", "value"], [list(row) for row in rows])


def _flat(values: Mapping[str, Any], before: str = "") -> list[tuple[str, str]]:
    rows = []
    for key, value in values.items():
        name = f"{before}{key}"
        if isinstance(value, dict):
            rows += _flat(value, f"{name}.")
        else:
            rows.append((name, value if isinstance(value, str) else json.dumps(value, default=str)))
    return rows
