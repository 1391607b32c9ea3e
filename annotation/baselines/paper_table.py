"""The paper's tables of systems, filled from a release, and what is said of an estimate."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from annotation.baselines.run_folder import write_text
from annotation.baselines.training import Finished, Order, estimate, recipe_path, train, trained_of
from annotation.protocols.contracts import TRAINED
from annotation.release import row_tables
from annotation.release.dataset_card import MANIFEST
from annotation.tables.table import Cell, Table, markdown
from annotation.tables.terminal import table_lines
from collector.protocols.loading import Protocol
from readers.reader import Tell, silent
from readers.trained import ReaderError, Trained
from readers.trainer.recipe import PAPER, read_recipe

if TYPE_CHECKING:
    from readers.trainer.estimate import Estimate


MINUTE, HOUR, DAY = 60, 3600, 86400
MEBIBYTE, GIBIBYTE = 2**20, 2**30


def as_estimate(order: Order, found: "Estimate") -> str:
    """Return how long it would take, in how much memory, and what was measured."""
    columns = [
        "stage",
        "items",
        "weights",
        "steps",
        "a step",
        "of",
        "looks at dev",
        "a look",
        "all",
    ]
    rows: list[list[Cell]] = [
        [
            stage.name,
            stage.items,
            stage.parameters,
            stage.steps,
            duration(stage.seconds_a_step),
            f"{stage.steps_measured} measured",
            stage.looks,
            duration(stage.seconds_a_look),
            duration(stage.seconds),
        ]
        for stage in found.stages
    ]
    rows += [
        [f"{each.stage}: answers", each.items, *[""] * 6, duration(each.seconds)]
        for each in found.answering.values()
    ]
    note = (
        f"In all about {duration(found.seconds)}, with {duration(found.seconds_to_answer)} for the "
        f"answers between the stages and at the end; {size(found.peak_bytes)} of {found.memory}, "
        f"over the longest items; at most {size(found.disk_bytes)} on the disk. Nothing was "
        "trained or written. What a stage would hand to the next is stood in for. Left out: "
        f"{found.left_out}."
    )
    title = f"{order.protocol.name}, {order.name}, recipe {order.recipe} on {found.device}"
    return table_lines([Table("estimate", title, columns, rows, note)], in_colour=False)


def size(number: int) -> str:
    """Return a number of bytes as a person says it."""
    if number >= GIBIBYTE:
        return f"{number / GIBIBYTE:.1f} GiB"
    return f"{max(1, round(number / MEBIBYTE))} MiB"


def duration(seconds: float) -> str:
    """Return a time as a person says it."""
    if seconds < 1:
        return f"{1000 * seconds:.3g} ms"
    for unit, name in ((DAY, "days"), (HOUR, "h"), (MINUTE, "min")):
        if seconds >= 2 * unit:
            return f"{seconds / unit:.1f} {name}"
    return f"{seconds:.1f} s"


TABLES, README = "tables.json", "README.md"
ENCODER = "encoder"
GROUP = ": "


@dataclass(frozen=True)
class AllOf:
    """All of a protocol's trained baselines, to be trained from one release into one folder."""

    protocol: Protocol
    release: Path
    out: Path
    recipe: str = PAPER
    encoder: str = ""
    seed: int = 0
    tell: Tell = field(default=silent, compare=False)

    def orders(self) -> list[Order]:
        """Return what is asked for of each that the release has the files for.

        Raises ReaderError where it has them for none.
        """
        known = trained_of(self.protocol)
        lacking = self.lacking()
        found = [
            Order(
                protocol=self.protocol,
                name=name,
                train=(
                    *(self.release / file for file in about.train_files),
                    *(self.out / need / known[need].predictions for need in about.needs),
                ),
                dev=self.release / about.dev_file,
                out=self.out / name,
                recipe=self.recipe,
                encoder=self._encoder(name, about),
                seed=self.seed,
            )
            for name, about in known.items()
            if about.train_files and name not in lacking
        ]
        if found:
            return found
        if lacking:
            files = ", ".join(dict.fromkeys(lacking.values()))
            raise ReaderError(f"{self.release}: it lacks {files}; give a release's folder.")
        raise ReaderError(
            f"No baseline of {self.protocol.name!r} says which files of a release it is "
            "trained on: name one, with --train and --dev."
        )

    def lacking(self) -> dict[str, str]:
        """Return the baselines that cannot be trained from the release, each with what it lacks."""
        found: dict[str, str] = {}
        for name, about in trained_of(self.protocol).items():
            files = (*about.train_files, about.dev_file) if about.train_files else ()
            gone = [file for file in files if not (self.release / file).is_file()]
            gone += [found[need] for need in about.needs if need in found]
            if gone:
                found[name] = gone[0]
        return found

    def _encoder(self, name: str, about: Trained) -> str:
        """Return the encoder asked for, blank for a baseline that has none."""
        recipe = read_recipe(recipe_path(self.protocol, name, about), self.recipe)
        return self.encoder if recipe.has(ENCODER) else ""


def train_all(work: AllOf) -> list[Table]:
    """Train each in a folder of its own in OUT, and return the paper's tables; writes them too.

    What is finished is not trained again. Raises ReaderError or ScoreError in one line.
    """
    orders = work.orders()
    cards: dict[str, Finished] = {}
    for number, order in enumerate(orders, start=1):
        about = trained_of(work.protocol)[order.name]
        learned = cards.get(about.learns_as)
        order = replace(
            order,
            stages_from=work.out / about.learns_as if learned else None,
            tell=_counted(work.tell, order, number, orders),
        )
        cards[order.name] = train(order)
    tables = tables_of(work, {name: done.card for name, done in cards.items()})
    text = "\n".join(markdown(table) for table in tables)
    write_text(work.out / README, f"# {work.protocol.name}: baselines of {_name(work)}\n\n{text}")
    plain = json.dumps([table.plain() for table in tables], indent=2, ensure_ascii=False)
    write_text(work.out / TABLES, plain + "\n")
    return tables


def estimate_all(work: AllOf) -> "list[tuple[Order, Estimate]]":
    """Return how long each would take, and in how much memory; what learns alike stands once.

    What one needs of another may not be there yet.
    """
    orders = {
        order.name: replace(order, train=tuple(path for path in order.train if path.exists()))
        for order in work.orders()
    }
    known = trained_of(work.protocol)
    return [
        (order, estimate(order))
        for name, order in orders.items()
        if known[name].learns_as not in orders
    ]


def tables_of(work: AllOf, cards: Mapping[str, Mapping[str, Any]]) -> list[Table]:
    """Return a table for each of the paper's, in the order in which baselines name them."""
    known = trained_of(work.protocol)
    by_source: dict[str, dict[str, Mapping[str, Any]]] = {}
    for name, card in cards.items():
        by_source.setdefault(known[name].source, {})[name] = card
    tables = []
    for source, mine in by_source.items():
        tables.append(_table(work, source, mine))
        tables += [_by_group(work, name, card) for name, card in mine.items() if card["groups"]]
    return tables


def _table(work: AllOf, source: str, cards: Mapping[str, Mapping[str, Any]]) -> Table:
    known = trained_of(work.protocol)
    told = [key for name, card in cards.items() for key in _measures(known[name], card)]
    measures = list(dict.fromkeys(told))
    columns = ["baseline"]
    for key in measures:
        columns += [key, "paper"]
    columns += ["recipe", "encoder", "learned from", "answered", "trained in"]
    rows = [_row(known[name], name, card, measures) for name, card in cards.items()]
    simulated = simulated_in(work.release)
    note = (
        f"Trained on {_name(work)} by the seed {work.seed}; the paper's numbers are of its own "
        "data. Each row's folder has a card with everything that is needed to repeat it."
    )
    note += "".join(
        f" The release lacks {file}: {name} is left out."
        for name, file in work.lacking().items()
        if known[name].source == source
    )
    if source in (missing := work.protocol.part(TRAINED).MISSING):
        note += f" {missing[source]}"
    title = f"{source}, beside our own" if source else "Of no table of the paper's"
    return Table("baselines", title, columns, rows, note, simulated=simulated)


def _by_group(work: AllOf, name: str, card: Mapping[str, Any]) -> Table:
    """Return how one baseline does on each group of questions that it is scored by."""
    keys = list(dict.fromkeys(key for scores in card["groups"].values() for key in scores))
    rows = [
        [group, *(_short(scores.get(key)) for key in keys)]
        for group, scores in card["groups"].items()
    ]
    simulated = simulated_in(work.release)
    title = f"{name}, by group"
    return Table(f"groups-{name}", title, ["group", *keys], rows, simulated=simulated)


def _measures(about: Trained, card: Mapping[str, Any]) -> Iterable[str]:
    return about.paper or card["scores"]


def _row(about: Trained, name: str, card: Mapping[str, Any], measures: Sequence[str]) -> list[Cell]:
    row: list[Cell] = [name]
    for key in measures:
        row += [_short(score_in(card, key)), _short(about.paper.get(key))]
    last = list(card["stages"].values())[-1] if card["stages"] else {}
    return [
        *row,
        card["recipe"]["name"],
        Path(card["encoder"]).name or "none",
        last.get("items"),
        last.get("dev_items"),
        duration(sum(stage["seconds"] for stage in card["stages"].values())),
    ]


def score_in(card: Mapping[str, Any], key: str) -> float | None:
    """Return a score of a card by its key, a group's by "group: key"; None where it has none."""
    group, _, of_group = key.rpartition(GROUP)
    scores = card["groups"].get(group, {}) if group else {**card["beside"], **card["scores"]}
    value = scores.get(of_group if group else key)
    return None if value is None else float(value)


def simulated_in(release: Path) -> str:
    """Return what to say of simulated work in a release, blank where people made all of it."""
    path = release / row_tables.VOTES_FILE
    if not path.is_file():
        return ""
    from pyarrow import parquet

    marks = parquet.read_table(path, columns=["synthetic"])["synthetic"].to_pylist()
    made = sum(map(bool, marks))
    if not made:
        return ""
    return (
        f"Simulated workers gave {made:,} of the {len(marks):,} votes of this release: the "
        "figures show that the way works, and nothing about the data."
    )


def _counted(tell: Tell, order: Order, number: int, orders: Sequence[Order]) -> Tell:
    def told(step: str, done: int, total: int) -> None:
        tell(f"{number} of {len(orders)}, {order.name}: {step}", done, total)

    return told


def _name(work: AllOf) -> str:
    """Return how the release is called."""
    try:
        manifest = json.loads((work.release / MANIFEST).read_text("utf-8"))
    except (OSError, ValueError):
        return work.release.name
    return str(manifest.get("title") or work.release.name)


def _short(value: float | None) -> str | None:
    return None if value is None else f"{value:.4g}"
