"""What a protocol's README says of how often its advice speaks up on real questions."""

import re
from collections.abc import Mapping
from pathlib import Path

# Advice that is wrong more often than once in so many questions teaches people to ignore advice.
ONE_IN = 20
ROW = re.compile(r"^\| ([^|]+?) \| (\d+) \| (\d+) \|$", re.MULTILINE)


def assert_rare(readme: Path, measured: Mapping[str, tuple[int, int]]) -> None:
    """Check that all advice speaks up on fewer than one good question in twenty, as README says.

    measured: by the README's words for the advice, of how many questions that people wrote and that
    were released it could have spoken, and of how many it did.
    """
    section = readme.read_text("utf-8").partition("## How often advice is wrong")[2]
    said = {name: (int(of), int(spoke)) for name, of, spoke in ROW.findall(section)}
    assert dict(measured) == said
    assert {name: count for name, count in measured.items() if count[1] * ONE_IN >= count[0]} == {}
