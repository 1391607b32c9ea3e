"""The README's tables name for each behaviour and each client the tests that show it."""

import ast
import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.pure

HERE = Path(__file__).parent
README = (HERE.parent / "README.md").read_text("utf-8")
TABLES = README[README.index("\n## Behaviours") : README.index("\n### Events")]
ROWS = [
    line for line in TABLES.splitlines() if line.startswith("| ") and not line.startswith("| ---")
]
NAMED = re.compile(r"`(test_\w+)::(test_\w+)`")


def found_in(module: str) -> set[str]:
    tree = ast.parse((HERE / f"{module}.py").read_text("utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_each_row_names_tests_that_are_there() -> None:
    heads = [row for row in ROWS if row.endswith("| shown by |")]
    assert [head.split(" | ")[0] for head in heads] == ["| behaviour", "| client"]
    missing = []
    for row in ROWS:
        named = NAMED.findall(row.rpartition(" | ")[2])
        wrong = [f"{module}::{name}" for module, name in named if name not in found_in(module)]
        if row not in heads and (wrong or not named):
            missing.append((row[:60], wrong))
    assert missing == []
