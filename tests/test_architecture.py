"""The rules of the house: imports go one way, names stay in their folder."""

import ast
import re
import tomllib
from collections.abc import Collection, Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("common", "collector", "tasks", "annotation", "readers", "marketplace")
# Room -> what it may import of ours.
MAY_IMPORT = {
    "common": {"common"},
    "collector": {"common", "collector"},
    "tasks": {"common", "collector", "tasks"},
    "annotation": {"common", "collector", "tasks", "annotation", "readers"},
    "readers": {"common", "annotation", "readers"},
    "marketplace": {"common", "marketplace"},
}
PURE = (
    "collector/ingest/wikitext.py",
    "collector/ingest/dump.py",
    "collector/ingest/titles.py",
    "collector/ingest/article_text.py",
    "collector/protocols/parameters.py",
    "collector/environment.py",
    "common/environment.py",
    "tasks/work/widgets/*.py",
    "tasks/work/widgets/problems.py",
    "annotation/metrics/*.py",
    "annotation/agreement/*.py",
    "annotation/protocols/*/checks.py",
    "annotation/protocols/*/validation.py",
    "annotation/protocols/folds.py",
    "annotation/protocols/*/splits.py",
    "annotation/protocols/*/export.py",
    "annotation/protocols/*/simulated.py",
)
FORBIDDEN_NAMES = {"utils.py", "helpers.py", "common.py", "services.py", "manager.py", "tasks.py"}


def sources(*rooms: str, tests: bool = False) -> Iterator[Path]:
    """Yield our Python files, without migrations, and without tests unless asked for."""
    for room in rooms or ROOMS:
        for path in sorted((ROOT / room).rglob("*.py")):
            parts = path.relative_to(ROOT).parts
            if "migrations" in parts or (not tests and "tests" in parts):
                continue
            yield path


@cache
def imports(path: Path) -> list[str]:
    """Return the full name of every module a file imports, inside functions too."""
    found = []
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: import by full name"
            found.append(node.module or "")
    return found


@pytest.mark.parametrize("room", ROOMS)
def test_imports_go_one_way(room: str) -> None:
    wrong = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in sources(room)
        for name in imports(path)
        if name.split(".")[0] in ROOMS and name.split(".")[0] not in MAY_IMPORT[room]
    ]
    assert wrong == []


@pytest.mark.parametrize("room", ROOMS)
def test_no_module_imports_itself_by_way_of_others(room: str) -> None:
    paths = {_module(path): path for path in sources(room)}
    graph = {name: _imported(path, paths) - {name} for name, path in paths.items()}
    # Who imports nothing that is left, or is imported by nobody left, is in no circle.
    left: set[str] = set()
    while left != set(graph):
        left, wanted = set(graph), set().union(*graph.values())
        graph = {
            name: mine & left for name, mine in graph.items() if mine & left and name in wanted
        }
    assert sorted(graph) == []


def _module(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def _imported(path: Path, known: Collection[str]) -> set[str]:
    """Return the modules among those known that a file imports, inside functions too.

    What is imported for annotations alone is left out: it is never run.
    """
    found, tree = set(), ast.parse(path.read_text("utf-8"))
    for block in ast.walk(tree):
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING":
            block.body = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            whole = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= whole & set(known) or {node.module or ""}
    return found & set(known)


def module_imports(room: str) -> Iterator[tuple[Path, Path]]:
    """Yield each file of a room with each other file of ours that it imports."""
    paths = {_module(path): path for path in sources()}
    for path in sources(room):
        for name in sorted(_imported(path, paths)):
            if paths[name] != path:
                yield path, paths[name]


def test_pure_modules_import_no_django() -> None:
    wrong = [
        f"{path.relative_to(ROOT)} imports {name}"
        for pattern in PURE
        for path in ROOT.glob(pattern)
        for name in imports(path)
        if name.split(".")[0] in ("django", "rest_framework", "celery")
    ]
    assert wrong == []


def test_no_protocol_is_named_outside_its_folder() -> None:
    folders = [path.parent for path in (ROOT / "annotation/protocols").glob("*/protocol.toml")]
    assert folders
    for folder in folders:
        word = re.compile(rf"(?<![a-z]){re.escape(folder.name)}(?![a-z])", re.IGNORECASE)
        code = [*sources(), *(ROOT / "templates").rglob("*.html"), *ROOT.glob("*/static/**/*.js")]
        others = {other for other in folders if other != folder}
        homes = {folder, ROOT / "readers" / folder.name}
        wrong = [
            str(path.relative_to(ROOT))
            for path in code
            if homes.isdisjoint(path.parents)
            # A paper may compare with another's dataset, and read its files: not its folder.
            and others.isdisjoint(path.parents)
            and word.search(path.read_text("utf-8"))
            and word.search(_without_prose(path))
        ]
        assert wrong == [], f"{folder.name} is named in {wrong}"
        module = f"annotation.protocols.{folder.name}"
        wrong = [
            str(path.relative_to(ROOT))
            for path in sources()
            if homes.isdisjoint(path.parents)
            and any(f"{name}.".startswith(f"{module}.") for name in imports(path))
        ]
        assert wrong == [], f"{folder.name} is imported in {wrong}"


def test_readers_take_of_annotation_metrics_and_what_reads_their_own_papers_files() -> None:
    wrong = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in sources("readers")
        for name in imports(path)
        if name.startswith("annotation.")
        and not name.startswith("annotation.metrics")
        and not name.startswith(f"annotation.protocols.{path.parent.name}")
    ]
    assert wrong == []


def test_what_readers_share_is_described_by_no_protocol() -> None:
    names = [path.parent.name for path in (ROOT / "annotation/protocols").glob("*/protocol.toml")]
    # As papers write it, "Book QA"; one that is cited, "(Book QA 4.1)", is a source.
    words = "|".join(r"\s?".join(name) for name in names)
    named = re.compile(rf"(?<![a-z(])({words})(?![a-z])", re.IGNORECASE)
    shared = [
        path
        for path in sources("readers")
        if path.relative_to(ROOT / "readers").parts[0] not in names
    ]
    assert shared
    wrong = [
        f"{path.relative_to(ROOT)} names {found[1]}"
        for path in shared
        for found in named.finditer(path.read_text("utf-8"))
    ]
    assert wrong == []


def _without_prose(path: Path) -> str:
    """Return a file's code without docstrings and comments, where sources may be cited."""
    text = path.read_text("utf-8")
    if path.suffix == ".py":
        return ast.unparse(_NoDocstrings().visit(ast.parse(text)))
    text = re.sub(r"\{% comment %\}.*?\{% endcomment %\}", "", text, flags=re.DOTALL)
    return re.sub(r"^\s*(//|\*|/\*).*$", "", text, flags=re.MULTILINE)


class _NoDocstrings(ast.NodeTransformer):
    """Empties every docstring."""

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            return ast.copy_location(ast.Expr(ast.Constant("")), node)
        return node


def test_only_the_kinds_of_stage_know_which_kind_they_are() -> None:
    homes = [*(ROOT / "tasks/work/kinds").glob("*.py"), ROOT / "tasks/dialog/kind.py"]
    named = re.compile(r'^    name = "(\w+)"$', re.MULTILINE)
    kinds = {name for home in homes for name in named.findall(home.read_text("utf-8"))}
    assert {"question", "answer", "pair", "dialog", "validation", "text", "label"} <= kinds
    assert all((ROOT / f"templates/hits/{name}.html").exists() for name in kinds)
    outside = [path for path in sources("collector", "tasks", "annotation") if path not in homes]
    wrong = [
        f"{path.relative_to(ROOT)}:{node.lineno} compares a kind"
        for path in outside
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Compare) and _asks_for_a_kind(node, kinds)
    ]
    # The registry finds a kind, `kind` is the contract; `voting` reads a dialog's questions.
    names = ("registry", "kind", "voting", "hit_words")
    open_to_all = {f"tasks.work.kinds.{name}" for name in names}
    wrong += [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in outside
        for name in imports(path)
        if name.startswith("tasks.work.kinds") and name not in open_to_all
    ]
    assert wrong == []


def _asks_for_a_kind(node: ast.Compare, kinds: set[str]) -> bool:
    """Return whether something's `kind` is compared with the name of one."""
    sides = [node.left, *node.comparators]
    named = {
        each.value for side in sides for each in ast.walk(side) if isinstance(each, ast.Constant)
    }
    is_kind = any(isinstance(side, ast.Attribute) and side.attr == "kind" for side in sides)
    return is_kind and bool(named & kinds)


SHARED_READERS = ("readers/light", "readers/learners", "readers/trainer")
# What other rooms call in these is typed: the checker sees what passes between them.
TYPED_ROOMS = ("tasks/work/kinds", "collector/protocols", "tasks/crowd", *SHARED_READERS)
TYPED_FILES = (
    "readers/reader.py",
    "readers/trained.py",
    "collector/seeds/candidate.py",
    "tasks/simulation/simulated_contract.py",
    "annotation/protocols/contracts.py",
)


def test_nothing_that_a_typed_room_offers_is_of_any_type() -> None:
    parts = list(_parts_of_protocols())
    paths = [*sources(*TYPED_ROOMS), *(ROOT / name for name in TYPED_FILES), *parts]
    assert len(parts) > 20
    assert len(paths) > 60
    wrong = [
        f"{path.relative_to(ROOT)}:{line} {name}"
        for path in paths
        for name, line, types in _offered(ast.parse(path.read_text("utf-8")))
        if any(_is_any(node) for each in types for node in ast.walk(each))
    ]
    assert wrong == []


WITH_TORCH = {"torch", "transformers", "tokenizers", "safetensors"}
MAY_NEED_TORCH = (
    "readers/learners/*.py",
    "readers/trainer/*.py",
    "readers/*qa/*.py",
    "readers/iirc/*.py",
    "readers/quac/*.py",
)


def _need_torch() -> set[str]:
    """Return the names of the modules that cannot be imported without torch."""
    known = {_module(path): _imported_at_once(path) for path in sources()}
    found = set(WITH_TORCH)
    while True:
        more = {
            module
            for module, names in known.items()
            if any(name == one or name.startswith(f"{one}.") for name in names for one in found)
        }
        if more <= found:
            return found - WITH_TORCH
        found |= more


def _imported_at_once(path: Path) -> set[str]:
    """Return what a module imports when it is imported, with the names it takes from there."""
    found: set[str] = set()
    for node in ast.parse(path.read_text("utf-8")).body:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


def test_torch_is_needed_by_what_trains_readers_alone() -> None:
    allowed = {path for pattern in MAY_NEED_TORCH for path in ROOT.glob(pattern)}
    needing = _need_torch()
    wrong = [
        str(path.relative_to(ROOT))
        for path in sources(*ROOMS)
        if path not in allowed or path.name == "__init__.py"
        if _module(path) in needing or {name.split(".")[0] for name in imports(path)} & WITH_TORCH
    ]
    assert wrong == []


def _parts_of_protocols() -> Iterator[Path]:
    """Yield the files that each protocol's folder offers to the engine, as its contract lists."""
    for contract in (ROOT / "annotation/protocols").glob("*/contract.py"):
        own = ".".join(contract.parent.relative_to(ROOT).parts)
        for node in ast.parse(contract.read_text("utf-8")).body:
            if isinstance(node, ast.ImportFrom) and node.module == own:
                for name in node.names:
                    package = contract.parent / name.name / "__init__.py"
                    file = contract.parent / f"{name.name}.py"
                    yield package if package.exists() else file


def _offered(tree: ast.Module) -> Iterator[tuple[str, int, list[ast.expr]]]:
    """Yield name, line and types of the public functions, methods and fields of a module."""
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    for node in [*tree.body, *(each for one in classes for each in one.body)]:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found = node.target.id, [node.annotation]
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            given = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            given += [each for each in (node.args.vararg, node.args.kwarg) if each]
            types = [*(each.annotation for each in given), node.returns]
            found = node.name, [each for each in types if each]
        else:
            continue
        if not found[0].startswith("_"):
            yield found[0], node.lineno, found[1]


def _is_any(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id == "Any"


def test_modules_are_named_by_a_noun_and_say_what_they_are_for() -> None:
    wrong = [
        str(path.relative_to(ROOT))
        for path in sources(tests=True)
        if path.name in FORBIDDEN_NAMES or not says_what_it_is_for(path.read_text("utf-8"))
    ]
    assert wrong == []


def says_what_it_is_for(text: str) -> bool:
    """Return whether a module has a docstring, or nothing that would want one."""
    begins = text.strip()[:3]
    return begins in ("", '"""') or bool(ast.get_docstring(ast.parse(text)))


def test_no_file_has_the_marks_of_a_merge() -> None:
    """A page shows them to whoever reads it: a template is no program that fails."""
    marks = re.compile(r"^(?:<<<<<<<|>>>>>>>) ", re.MULTILINE)
    files = [*ROOT.glob("*.md"), *(ROOT / "templates").rglob("*.html"), *(ROOT / "docs").rglob("*")]
    files += [path for room in ROOMS for path in (ROOT / room).rglob("*")]
    kinds = {".html", ".md", ".toml", ".css", ".js", ".txt"}
    found = [
        path for path in files if path.suffix in kinds and marks.search(path.read_text("utf-8"))
    ]
    assert not found


def test_nothing_can_pull_in_another_postgresql_driver() -> None:
    for name in ("requirements.txt", "requirements-dev.txt"):
        assert not re.search(r"^psycopg(\[|==|-c|-binary)", (ROOT / name).read_text(), re.MULTILINE)


def test_the_locked_requirements_hold_every_name_of_the_project() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for file, names in {
        "requirements.txt": project["dependencies"],
        "requirements-dev.txt": project["optional-dependencies"]["dev"],
        "requirements-hub.txt": project["optional-dependencies"]["hub"],
    }.items():
        locked = {
            line.split("==")[0].lower()
            for line in (ROOT / file).read_text().splitlines()
            if "==" in line and not line.startswith(" ")
        }
        wanted = {re.split(r"[<>=\[]", name)[0].lower() for name in names}
        assert wanted <= locked
