"""The faults that rehearsals put in are of the code as it is."""

import pytest

from tests.rehearsals.faults import FAULTS, Fault
from tests.serving import ROOT


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_the_line_stands_there_and_the_tests_too(fault: Fault) -> None:
    text = (ROOT / fault.path).read_text()
    assert fault.right in text
    assert fault.right != fault.wrong
    assert all((ROOT / path).exists() for path in fault.tests.split())


def test_there_are_twenty_at_least() -> None:
    assert len({fault.name for fault in FAULTS}) == len(FAULTS) >= 20
