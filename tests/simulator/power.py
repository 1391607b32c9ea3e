"""Measures what the simulator finds: mutants drawn by a seed, and mends undone by patches.

    .venv/bin/python -m tests.simulator.power --mutants 40 --drawn-by 1
    .venv/bin/python -m tests.simulator.power --patches undone/*.patch

Each is tried in a copy of the tree, for --seconds or until something is found.
"""

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.simulator.machine import REAL_SECONDS

ROOT = Path(__file__).resolve().parent.parent.parent
WHERE = {
    "money": (
        *("tasks/ledger", "tasks/paying", "tasks/costs.py"),
        *("marketplace/funds.py", "marketplace/payouts.py"),
    ),
    "posting": ("tasks/hits.py",),
    "verdicts": ("annotation/decisions", "annotation/agreement"),
    "eligibility": ("tasks/people", "tasks/work"),
    "dialogs": ("tasks/dialog",),
    "forms": ("annotation/dashboard/money", "annotation/dashboard/people", "marketplace/desk"),
}
OTHER = {ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Add: "-", ast.Sub: "+"}
SIGN = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Add: "+", ast.Sub: "-"}


@dataclass(frozen=True)
class Mutant:
    """A change of one place: the text from `start` to `end` of a file becomes another."""

    room: str
    kind: str
    path: str
    line: int
    start: int
    end: int
    text: str

    def apply(self, tree: Path) -> None:
        """Change the file in a copy of the tree."""
        path = tree / self.path
        content = path.read_text("utf-8").encode()
        path.write_bytes(content[: self.start] + self.text.encode() + content[self.end :])


def mutants() -> list[Mutant]:
    """Return every mutant that could be drawn."""
    return [
        mutant
        for room, folders in WHERE.items()
        for folder in folders
        for path in sorted(
            [ROOT / folder] if folder.endswith(".py") else (ROOT / folder).rglob("*.py")
        )
        if "tests" not in path.parts
        for mutant in _of_file(room, path)
    ]


def _files_of(place: Path) -> Iterable[Path]:
    return [place] if place.is_file() else place.rglob("*.py")


def _of_file(room: str, path: Path) -> Iterator[Mutant]:
    content = path.read_bytes()
    starts = [0]
    for line in content.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    name = str(path.relative_to(ROOT))

    def at(line: int, column: int) -> int:
        return starts[line - 1] + column

    def made(kind: str, node: ast.AST, start: int, end: int, text: str) -> Mutant:
        return Mutant(room, kind, name, getattr(node, "lineno", 0), start, end, text)

    for node in ast.walk(ast.parse(content)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            # `.exclude(…)` and `.select_for_update(…)` fall away.
            start = at(node.func.value.end_lineno or 0, node.func.value.end_col_offset or 0)
            end = at(node.end_lineno or 0, node.end_col_offset or 0)
            if node.func.attr in ("exclude", "select_for_update"):
                kind = "an exclusion" if node.func.attr == "exclude" else "a lock"
                yield made(kind, node, start, end, "")
        elif isinstance(node, ast.Compare | ast.BinOp):
            ops = node.ops[0] if isinstance(node, ast.Compare) else node.op
            left = node.left
            right = node.comparators[0] if isinstance(node, ast.Compare) else node.right
            is_text = any(
                isinstance(side, ast.Constant | ast.JoinedStr)
                and isinstance(getattr(side, "value", ""), str)
                for side in (left, right)
            )
            if type(ops) not in OTHER or is_text:
                continue
            start = at(left.end_lineno or 0, left.end_col_offset or 0)
            end = at(right.lineno, right.col_offset)
            between = content[start:end].decode()
            if between.count(SIGN[type(ops)]) == 1:
                text = between.replace(SIGN[type(ops)], OTHER[type(ops)])
                yield made("a sign", node, start, end, text)
        elif isinstance(node, ast.JoinedStr):
            parts = [part for part in node.values if isinstance(part, ast.FormattedValue)]
            source = content[
                at(node.lineno, node.col_offset) : at(
                    node.end_lineno or 0, node.end_col_offset or 0
                )
            ].decode()
            # A key such as f"bonus:{a}:{b}" loses its last part.
            if parts and ":{" in source and " " not in source:
                cut = source.rindex(":{")
                start = at(node.lineno, node.col_offset)
                yield made("a key", node, start + cut, start + source.rindex("}") + 1, ":")
        elif isinstance(node, ast.If) and not node.orelse and isinstance(node.body[-1], ast.Raise):
            start = at(node.test.lineno, node.test.col_offset)
            end = at(node.test.end_lineno or 0, node.test.end_col_offset or 0)
            yield made("a check", node, start, end, "False")


def drawn(number: int, seed: int) -> list[Mutant]:
    """Return so many mutants, of each room and kind alike as far as there are any."""
    rng = random.Random(seed)
    groups: dict[tuple[str, str], list[Mutant]] = {}
    for mutant in mutants():
        groups.setdefault((mutant.room, mutant.kind), []).append(mutant)
    found: list[Mutant] = []
    while len(found) < number and any(groups.values()):
        for group in rng.sample(sorted(groups), len(groups)):
            if groups[group] and len(found) < number:
                found.append(groups[group].pop(rng.randrange(len(groups[group]))))
    return found


def tried(tree: Path, seconds: float, options: list[str]) -> str:
    """Return what the simulator prints of a changed tree until it has found something."""
    command = [sys.executable, "-m", "tests.simulator", "--seeds", "1:100000", "--stop"]
    done = subprocess.run(
        [*command, "--seconds", str(seconds), "--shorten", *options],
        cwd=tree,
        env={**os.environ, "PYTHONPATH": str(tree)},
        capture_output=True,
        text=True,
    )
    return done.stdout + done.stderr[-2000:]


def main() -> int:
    """Try all; return 0 when each was found."""
    parser = argparse.ArgumentParser(prog="tests.simulator.power", description=__doc__)
    parser.add_argument("--mutants", type=int, default=0)
    parser.add_argument(
        "--drawn-by", type=int, default=1, help="the seed that mutants are drawn by"
    )
    parser.add_argument(
        "--patches", nargs="*", default=[], type=Path, help="each undoes one mend of the product"
    )
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--list", action="store_true", help="name them and try none")
    given, options = parser.parse_known_args()
    jobs: list[tuple[str, Mutant | Path]] = [
        (f"{one.room}: {one.kind} at {one.path}:{one.line}", one)
        for one in drawn(given.mutants, given.drawn_by)
    ] + [(one.stem, one.resolve()) for one in given.patches]
    n_found = 0
    for number, (name, job) in enumerate(jobs, 1):
        print(f"{number}. {name}", flush=True)
        if given.list:
            continue
        with tempfile.TemporaryDirectory() as folder:
            tree = Path(folder, "tree")
            subprocess.run(["git", "clone", "-q", str(ROOT), str(tree)], check=True)
            shutil.copytree(
                ROOT / "tests" / "simulator", tree / "tests" / "simulator", dirs_exist_ok=True
            )
            if isinstance(job, Mutant):
                job.apply(tree)
            else:
                subprocess.run(["git", "apply", str(job)], cwd=tree, check=True)
            began = REAL_SECONDS()
            told = tried(tree, given.seconds, options)
            found = [line for line in told.splitlines() if "['" in line]
            n_found += bool(found)
            print(f"   {REAL_SECONDS() - began:.0f} s", *found[:3] or ["not found"], sep="\n   ")
            print(
                *(f"   {line}" for line in told.splitlines() if line.startswith("    ")),
                sep="\n",
                flush=True,
            )
    print(f"{n_found} of {len(jobs)} found")
    return 0 if n_found == len(jobs) else 1


if __name__ == "__main__":
    sys.exit(main())
