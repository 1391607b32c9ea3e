"""What a stage collects: each kind turns a cleaned submission into rows."""

from importlib import import_module
from types import ModuleType

from collector.protocol import ProtocolError


def kind(name: str) -> ModuleType:
    """Return the module of the kind `name`; raises ProtocolError when there is none."""
    try:
        return import_module(f"tasks.kinds.{name}")
    except ModuleNotFoundError:
        raise ProtocolError(f"There is no kind {name!r} of stage: see tasks/kinds/.") from None
