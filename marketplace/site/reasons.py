"""Says in a worker's words what a HIT asks for and what is in the way."""

from dataclasses import dataclass
from typing import Any

from marketplace.models import QualificationType
from marketplace.requirements import (
    ADULT,
    LOCALE,
    MASTERS,
    N_APPROVED,
    PERCENT_APPROVED,
    Standing,
)

SCORE_WORDS = {
    "LessThan": "a score below {0}",
    "LessThanOrEqualTo": "a score of {0} at most",
    "GreaterThan": "a score above {0}",
    "GreaterThanOrEqualTo": "a score of {0} or more",
    "EqualTo": "a score of exactly {0}",
    "NotEqualTo": "a score other than {0}",
    "In": "a score of {0}",
    "NotIn": "a score other than {0}",
}
# A score of one is how requesters write "has it", so the number would only puzzle.
PLAIN = (("GreaterThanOrEqualTo", [1]), ("EqualTo", [1]), ("GreaterThan", [0]))


@dataclass(frozen=True)
class Reason:
    """One thing in the way: a sentence, and the type to ask for when asking can help."""

    sentence: str
    how: str = ""
    askable: QualificationType | None = None


def reason_for(
    need: dict[str, Any], standing: Standing, types: dict[str, QualificationType]
) -> Reason:
    """Return why this requirement is not met and what the worker can do about it."""
    type_id = need["QualificationTypeId"]
    if type_id == LOCALE:
        return _place(need, standing)
    if type_id == ADULT:
        return Reason("For adults only.", "Say in your preferences that you are an adult.")
    if type_id in (N_APPROVED, PERCENT_APPROVED, *MASTERS):
        what = "number of approved HITs" if type_id == N_APPROVED else "share of approved work"
        return Reason(f"Asks for a {what} that you have not reached yet.")
    row = types.get(type_id)
    if row is None:
        return Reason("Asks for a qualification that does not exist any more.")
    if need["Comparator"] == "DoesNotExist":
        return Reason(f"Only for workers who do not have “{row.name}”.")
    can_ask = row.is_active and row.deleted_at is None and type_id not in standing.scores
    return Reason(
        f"Needs the qualification “{row.name}”{_score(need)}.",
        row.description,
        row if can_ask else None,
    )


def _score(need: dict[str, Any]) -> str:
    values = need.get("IntegerValues", [])
    if not values or (need["Comparator"], values) in PLAIN:
        return ""
    words = SCORE_WORDS[need["Comparator"]].format(" or ".join(map(str, values)))
    return f" with {words}"


def _place(need: dict[str, Any], standing: Standing) -> Reason:
    places = ", ".join(
        "-".join(filter(None, [place["Country"], place.get("Subdivision")]))
        for place in need.get("LocaleValues", [])
    )
    is_inside = need["Comparator"] in ("EqualTo", "In")
    sentence = f"Only for workers {'in' if is_inside else 'outside'} {places}."
    how = "" if standing.worker.country else "Set your country in your preferences."
    return Reason(sentence, how)
