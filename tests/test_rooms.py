"""Each app's rooms stand in one order, declared in its `rooms.toml`: imports go down."""

import tomllib
from collections.abc import Iterator

import pytest

from tests.test_architecture import ROOT, module_imports, sources

Order = dict[str, list[str]]
ORDERED = ("collector", "tasks", "annotation", "readers", "marketplace")


def declared(app: str) -> Order:
    """Return an app's rooms by folder, bottom to top."""
    found: Order = tomllib.loads((ROOT / app / "rooms.toml").read_text("utf-8"))["rooms"]
    return found


def children(app: str) -> dict[str, set[str]]:
    """Return the sub-folders and files of each folder of product modules that has sub-folders."""
    folders = {path.parent for path in sources(app)}
    inside = {one.parent for one in folders if one != ROOT / app and one.name != "commands"}
    files = {
        str(path.relative_to(ROOT)): path.name
        for path in sources(app)
        if path.name != "__init__.py"
    }
    found: dict[str, set[str]] = {}
    for folder in inside:
        name = str(folder.relative_to(ROOT))
        below = {one.relative_to(folder).parts[0] for one in folders if folder in one.parents}
        found[name] = below | {files[path] for path in files if path == f"{name}/{files[path]}"}
    return found


def upward(app: str, order: Order) -> Iterator[str]:
    """Yield `room -> room` for each import that goes up, or to a file on the floor not declared."""
    for path, other in module_imports(app):
        ours, theirs = path.relative_to(ROOT).parts, other.relative_to(ROOT).parts
        n_shared = next(n for n, (a, b) in enumerate(zip(ours, theirs, strict=False)) if a != b)
        if n_shared == 0:
            continue
        folder = "/".join(ours[:n_shared])
        rooms = order.get(folder, [])
        mine, its = ours[n_shared], theirs[n_shared]
        if "__init__.py" in (mine, its) or mine not in rooms:
            continue
        if its not in rooms or rooms.index(its) > rooms.index(mine):
            yield f"{folder}/{mine} -> {folder}/{its}"


@pytest.mark.parametrize("app", ORDERED)
def test_imports_between_rooms_go_down(app: str) -> None:
    assert list(upward(app, declared(app))) == []


@pytest.mark.parametrize("app", ORDERED)
def test_every_room_is_in_the_order(app: str) -> None:
    order = declared(app)
    there = children(app)
    assert set(order) == set(there)
    missing = {
        f"{folder}/{room}"
        for folder, rooms in there.items()
        for room in rooms
        if not room.endswith(".py") and room not in order[folder] and room != "management"
    }
    gone = {
        f"{folder}/{room}" for folder, rooms in order.items() for room in {*rooms} - there[folder]
    }
    assert (missing, gone) == (set(), set())
