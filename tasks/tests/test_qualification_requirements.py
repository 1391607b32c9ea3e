"""Demands on workers' past are put on HITs where the crowd has one, and told of where not."""

from typing import Any

from collector.protocols.loading import get_protocol
from tasks.hits import requirements_of_past as requirements
from tasks.hits import unasked_past as notice


def test_a_crowd_with_a_history_is_asked_for_it(settings: Any) -> None:
    settings.CROWD_HISTORY = True
    parameters = get_protocol("quac").parameters({"workers.countries": ["GB", "US"]})
    assert requirements(parameters) == [
        {
            "QualificationTypeId": "00000000000000000071",
            "Comparator": "In",
            "ActionsGuarded": "Accept",
            "LocaleValues": [{"Country": "GB"}, {"Country": "US"}],
        },
        {
            "QualificationTypeId": "00000000000000000040",
            "Comparator": "GreaterThan",
            "ActionsGuarded": "Accept",
            "IntegerValues": [1000],
        },
        {
            "QualificationTypeId": "000000000000000000L0",
            "Comparator": "GreaterThanOrEqualTo",
            "ActionsGuarded": "Accept",
            "IntegerValues": [95],
        },
    ]
    assert notice(parameters) == ""


def test_a_crowd_without_one_is_asked_for_nothing_and_the_requester_told() -> None:
    parameters = get_protocol("quac").parameters({"workers.countries": ["GB"]})
    assert requirements(parameters) == []
    assert "workers from GB; more than 1,000 approved HITs; at least 95%" in notice(parameters)


def test_nothing_is_said_where_nothing_is_demanded() -> None:
    nothing = {"countries": [], "min_approved": 0, "min_approval_percent": 0}
    demanded = {f"workers.{name}": value for name, value in nothing.items()}
    assert notice(get_protocol("quac").parameters(demanded)) == ""
    assert notice(get_protocol("iirc").parameters()) == ""
