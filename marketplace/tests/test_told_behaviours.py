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


def test_a_client_that_has_to_be_changed_is_told_both_hosts() -> None:
    """A lab tries in sandbox mode first, which names other hosts than production."""
    clients = ROWS[[row.startswith("| client") for row in ROWS].index(True) + 1 :]
    rows = [row.split(" | ")[1] for row in clients]
    changed = [row for row in rows if not row.startswith("nothing") and "mturk" in row]
    assert len(changed) == 6
    assert all("mturk-requester-sandbox." in row for row in changed)
    submitting = [row for row in changed if "www.mturk.com" in row]
    assert len(submitting) == 4
    assert all("workersandbox.mturk.com" in row for row in submitting)
