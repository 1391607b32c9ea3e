"""Whether work is believed and whether it is paid are two decisions: no path leads across."""

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.test_architecture import ROOT, sources

MONEY = {"budget", "compensation", "payments", "reconcile", "rejecting", "rejections", "unmatched"}
# The requester's pages about money, and nothing else of what believes.
PAGES = {f"annotation/dashboard/{name}.py" for name in ("assignments", "money")}
PAGES |= {f"annotation/dashboard/{name}.py" for name in ("deciding_pay", "pay_acts")}


def modules_of_money(path: Path) -> Iterator[str]:
    """Yield the modules about money that a file imports, inside functions too."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module == "tasks":
            yield from (alias.name for alias in node.names if alias.name in MONEY)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tasks."):
            name = (node.module or "").split(".")[1]
            if name in MONEY:
                yield name


def test_the_modules_about_money_are_where_this_test_looks() -> None:
    assert [name for name in MONEY if not (ROOT / "tasks" / f"{name}.py").exists()] == []


def test_only_the_pages_about_money_reach_for_pay() -> None:
    reaching = {
        str(path.relative_to(ROOT)) for path in sources("annotation") if [*modules_of_money(path)]
    }
    assert reaching == PAGES


def test_nobody_proposes_to_reject_but_a_person_on_one_page() -> None:
    proposing = {
        str(path.relative_to(ROOT))
        for path in sources()
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Attribute)
        and node.attr in ("propose", "confirm", "take_back")
        and isinstance(node.value, ast.Name)
        and node.value.id == "rejections"
    }
    assert proposing == {"annotation/dashboard/pay_acts.py"}


def test_the_pages_about_money_ask_for_no_verdict() -> None:
    wrong = [
        f"{page} imports {node.module}"
        for page in PAGES
        for node in ast.walk(ast.parse((ROOT / page).read_text("utf-8")))
        if isinstance(node, ast.ImportFrom)
        and (node.module or "").startswith(("annotation.models", "annotation.agreement"))
    ]
    assert wrong == []
