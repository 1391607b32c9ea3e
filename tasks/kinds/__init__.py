"""What a stage collects: each kind turns a cleaned submission into rows."""

from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import Any

from collector.protocols.loading import ProtocolError
from collector.protocols.parameters import StageTable
from tasks.models import Lease


def kind(name: str) -> ModuleType:
    """Return the module of the kind `name`; raises ProtocolError when there is none."""
    try:
        return import_module(f"tasks.kinds.{name}")
    except ModuleNotFoundError:
        raise ProtocolError(f"There is no kind {name!r} of stage: see tasks/kinds/.") from None


@dataclass(frozen=True)
class Promise:
    """What a HIT of a kind promises beyond its reward, to each worker, in cents and minutes.

    `keeps_work`: what was written outlives a return. `is_one_at_a_time`: nobody is at two.
    """

    bonus_cents: int = 0
    waiting_cents: int = 0
    waiting_minutes: int = 0
    keeps_work: bool = True
    is_one_at_a_time: bool = False


def promise_of(table: StageTable) -> Promise:
    """Return what the HITs of a stage promise beyond their reward."""
    module = kind(table.kind)
    found: Promise = module.promise(table) if hasattr(module, "promise") else Promise()
    return found


def listed(entries: object) -> list[Any]:
    """Return what a draft holds under a name where it is a list, else nothing."""
    return entries if isinstance(entries, list) else []


def own(lease: Lease) -> dict[str, Any]:
    """Return what only this stay's page is told by its kind; most kinds tell nothing."""
    module = kind(lease.unit.stage.kind)
    return module.own(lease) if hasattr(module, "own") else {}
