"""A flow is laid out so that its ends and bands are as thick as what they stand for."""

import re
from itertools import pairwise

import pytest

from annotation.tables.table import LEAST, WHOLE, Band, Flow, flow_of

pytestmark = pytest.mark.pure
SOURCES = [("who", "concept"), ("why", "event"), ("how", "event"), ("when", "event")]
TARGETS = [("name", ""), ("event", "")]
COUNTS = {("who", "name"): 3, ("why", "name"): 1, ("why", "event"): 4, ("how", "event"): 2}


def drawn() -> Flow:
    flow = flow_of("From questions to answers", COUNTS, SOURCES, TARGETS)
    assert flow is not None
    return flow


def ends_of(band: Band) -> tuple[float, float, float]:
    """Return where a band begins, where it ends, and how thick it is."""
    numbers = [float(each) for each in re.findall(r"-?[\d.]+", band.path)]
    return numbers[1], numbers[7], numbers[8] - numbers[7]


def test_bars_and_bands_are_as_thick_as_their_shares() -> None:
    flow = drawn()

    assert [(end.label, end.number) for end in flow.sources] == [("who", 3), ("why", 5), ("how", 2)]
    assert [end.height for end in flow.sources] == [0.3 * WHOLE, 0.5 * WHOLE, 0.2 * WHOLE]
    assert [end.figures for end in flow.targets] == ["4 · 40.0 %", "6 · 60.0 %"]
    assert [round(ends_of(band)[2] / WHOLE * 10) for band in flow.bands] == [3, 1, 4, 2]
    assert flow.bands[1].words == "why → name: 1, 20 % of its items"


def test_bands_fill_the_bars_that_they_lead_from_and_to() -> None:
    flow = drawn()
    names, events = flow.targets
    who, why_name, why, how = (ends_of(band) for band in flow.bands)

    assert (who[1], why_name[1]) == (names.top, pytest.approx(names.top + 0.3 * WHOLE, abs=0.01))
    assert (why[1], how[1]) == (events.top, pytest.approx(events.top + 0.4 * WHOLE, abs=0.01))
    assert why_name[0] == flow.sources[1].top


def test_words_never_stand_in_one_another_and_all_stands_inside() -> None:
    counts = {(f"label {number}", "same"): 1 for number in range(30)}
    flow = flow_of("Many", counts, [(label, "") for label, _ in counts], [("same", "")])
    assert flow is not None
    middles = [end.middle for end in flow.sources]

    assert all(below - above >= LEAST for above, below in pairwise(middles))
    assert flow.sources[-1].middle + LEAST / 2 <= flow.height
    (only,) = flow.targets
    assert only.middle == pytest.approx(flow.height / 2, abs=3)


def test_groups_have_a_heading_where_they_begin_and_a_colour_of_their_own() -> None:
    flow = drawn()

    assert [end.heading for end in flow.sources] == ["concept", "event", ""]
    assert [end.colour for end in flow.sources] == [0, 1, 1]
    assert [band.colour for band in flow.bands] == [0, 1, 1, 1]
    assert [end.heading for end in flow.targets] == ["", ""]


def test_nothing_is_drawn_of_nothing() -> None:
    assert flow_of("Nothing", {}, SOURCES, TARGETS) is None
