"""Whether work is believed and whether it is paid are two decisions: no path leads across."""

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.test_architecture import ROOT, sources

MONEY = {f"paying.{name}" for name in ("bonuses", "compensation", "decisions", "rejections")}
MONEY |= {"paying.reconcile", "paying.empty_submissions", "ledger.budget", "ledger.payments"}
MONEY |= {"people.reports"}
# The requester's pages about money, and nothing else of what believes.
PAGES = {f"annotation/dashboard/money/{name}.py" for name in ("assignments", "views")}
PAGES |= {"annotation/dashboard/people/problem_views.py"}
# What turns votes into verdicts and verdicts into splits, and where a person overrides one.
BELIEF = (
    "decisions.verdicts",
    "decisions.by_hand",
    "splits.assignment",
    "splits.human_performance",
    "dashboard.questions.filters",
)
ROWS = {"Payment", "Posting", "Rejection", "Submission", "EmptySubmission"}
WRITES = {"bulk_create", "bulk_update", "create", "delete", "save", "update"}
WRITES |= {"get_or_create", "update_or_create"}
# They make rows of work that is long done: of an archive, or of another run's log.
REMAKING = ("annotation/mturk_import/", "annotation/replay/")


def imported(path: Path) -> Iterator[str]:
    """Yield the dotted name of every module of ours that a file imports, functions included."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        yield from (name for name in names if place_of(name))


def place_of(name: str) -> Path | None:
    """Return the file of a module of ours, None for a package and for anything else."""
    path = ROOT / f"{name.replace('.', '/')}.py"
    return path if path.exists() else None


def modules_of_money(path: Path) -> Iterator[str]:
    """Yield the modules about money that a file imports."""
    for name in imported(path):
        room, _, module = name.partition(".")
        if room == "tasks" and module in MONEY:
            yield module


def written(path: Path) -> Iterator[str]:
    """Yield "Row.method" for every change of a row about money that a file makes."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            root: ast.AST = node.func
            while isinstance(root, ast.Attribute | ast.Call):
                root = root.value if isinstance(root, ast.Attribute) else root.func
            if isinstance(root, ast.Name) and root.id in ROWS and node.func.attr in WRITES:
                yield f"{root.id}.{node.func.attr}"


def test_the_modules_about_money_are_where_this_test_looks() -> None:
    assert [name for name in MONEY if not place_of(f"tasks.{name}")] == []


def test_only_the_pages_about_money_reach_for_pay() -> None:
    reaching = {
        str(path.relative_to(ROOT)) for path in sources("annotation") if [*modules_of_money(path)]
    }
    assert {path for path in reaching if not path.startswith(REMAKING)} == PAGES


def test_nobody_proposes_to_reject_but_a_person_on_one_page() -> None:
    proposing = {
        str(path.relative_to(ROOT))
        for path in sources()
        if "rejections" in (text := path.read_text("utf-8"))
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Attribute)
        and node.attr in ("propose", "confirm", "take_back")
        and isinstance(node.value, ast.Name)
        and node.value.id == "rejections"
    }
    assert proposing == {"tasks/paying/decisions.py"}


def test_the_pages_about_money_ask_for_no_verdict() -> None:
    wrong = [
        f"{page} imports {node.module}"
        for page in PAGES
        for node in ast.walk(ast.parse((ROOT / page).read_text("utf-8")))
        if isinstance(node, ast.ImportFrom)
        and (node.module or "").startswith(("annotation.models", "annotation.agreement"))
    ]
    assert wrong == []


def test_nothing_that_believes_leads_to_pay_however_far_one_follows_its_imports() -> None:
    reached: set[str] = set()
    waiting = [f"annotation.{name}" for name in BELIEF]
    assert [name for name in waiting if not place_of(name)] == []
    while waiting:
        name = waiting.pop()
        place = place_of(name)
        if name not in reached and place:
            reached.add(name)
            waiting += imported(place)
    # An estimate reads what the budget holds; nobody is paid by it.
    assert {f"tasks.{name}" for name in MONEY - {"ledger.budget"}} & reached == set()
    assert len(reached) > len(BELIEF)


def test_only_work_long_done_is_written_about_money_from_above() -> None:
    writing = {
        str(path.relative_to(ROOT)): sorted(set(written(path)))
        for path in sources("annotation")
        if not str(path.relative_to(ROOT)).startswith(REMAKING) and [*written(path)]
    }
    assert writing == {}
