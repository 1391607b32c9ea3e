"""What a protocol's checks.py offers: all that is wrong with what a worker wrote, at once."""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Protocol

from django.conf import settings

from collector.protocols.loading import get_protocol
from collector.protocols.parameters import Parameters, StageTable
from collector.protocols.part_contract import P, Part
from tasks.work.kinds.kind import Data, Item
from tasks.work.widgets.problems import Problem


class ChecksPart(Protocol[P]):
    """checks.py: pure, so that a page is told while somebody still writes."""

    def problems(
        self, kind: str, data: Data, items: Sequence[Item], table: StageTable, parameters: P
    ) -> list[Problem]:
        """Return what is wrong with cleaned data, and hints; in sentences, in the page's order.

        kind: of the stage. items: what its page shows. table: the stage's own.
        """


CHECKS = Part[ChecksPart[Parameters]]("checks", ChecksPart)


def protocol_problems(
    protocol: str, data: Data, items: Sequence[Item], table: StageTable, parameters: Parameters
) -> list[Problem]:
    """Return what the protocol finds wrong with cleaned data of a stage; raises ProtocolError."""
    checks = _checks(protocol, tuple(settings.PROTOCOL_FOLDERS))
    return checks.problems(table.kind, data, items, table, parameters)


@lru_cache(maxsize=64)
def _checks(protocol: str, folders: tuple[Path, ...]) -> ChecksPart[Parameters]:
    """Return a protocol's checks.py, which is looked for among the folders once."""
    return get_protocol(protocol).part(CHECKS)
