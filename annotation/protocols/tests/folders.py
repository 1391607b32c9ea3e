"""Every protocol's folder: those that Collector brings, and the small one of its tests."""

from pathlib import Path
from typing import Any

from collector.protocols.loading import Protocol

ROOT = Path(__file__).resolve().parents[3]
PARENTS = (ROOT / "annotation" / "protocols", ROOT / "tests" / "protocols")
PROTOCOLS = [
    Protocol(path.parent.name, path.parent)
    for parent in PARENTS
    for path in sorted(parent.glob("*/protocol.toml"))
]


def leaves(table: dict[str, Any], path: str = "") -> list[str]:
    """Return the dotted name of every value of nested tables."""
    found = []
    for name, value in table.items():
        dotted = f"{path}{name}"
        found += leaves(value, f"{dotted}.") if isinstance(value, dict) else [dotted]
    return found


def tables(values: dict[str, Any], path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """Return the path of every table, the root () first."""
    found = [path]
    for name, value in values.items():
        if isinstance(value, dict):
            found += tables(value, (*path, name))
    return found
