"""The licence follows from the wiki and the day, or is said to be unknown."""

from datetime import UTC, datetime

import pytest

from collector.ingest.errors import DumpError
from collector.ingest.licences import default_licence, licence_address


@pytest.mark.parametrize(
    ("base_url", "year", "licence"),
    [
        ("https://en.wikipedia.org/wiki/Main_Page", 2016, "CC BY-SA 3.0"),
        ("https://de.wiktionary.org/wiki/Start", 2025, "CC BY-SA 4.0"),
        ("https://wiki.example.org/wiki/Main", 2025, "unknown"),
        ("https://notwikipedia.org/wiki/Main", 2025, "unknown"),
    ],
)
def test_wikipedia_moved_to_4_0(base_url: str, year: int, licence: str) -> None:
    assert default_licence(base_url, datetime(year, 1, 2, tzinfo=UTC)) == licence


def test_an_unheard_of_licence_needs_an_address() -> None:
    with pytest.raises(DumpError, match="--licence-url"):
        licence_address("My own")
