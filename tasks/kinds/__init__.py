"""What a stage collects: each kind turns a cleaned submission into rows."""

from importlib import import_module
from types import ModuleType
from typing import Any

from collector.protocol import ProtocolError
from tasks.models import Lease


def kind(name: str) -> ModuleType:
    """Return the module of the kind `name`; raises ProtocolError when there is none."""
    try:
        return import_module(f"tasks.kinds.{name}")
    except ModuleNotFoundError:
        raise ProtocolError(f"There is no kind {name!r} of stage: see tasks/kinds/.") from None


def listed(entries: object) -> list[Any]:
    """Return what a draft holds under a name where it is a list, else nothing."""
    return entries if isinstance(entries, list) else []


def own(lease: Lease) -> dict[str, Any]:
    """Return what only this stay's page is told by its kind; most kinds tell nothing."""
    module = kind(lease.unit.stage.kind)
    return module.own(lease) if hasattr(module, "own") else {}
