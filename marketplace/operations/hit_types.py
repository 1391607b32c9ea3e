"""CreateHITType and UpdateHITTypeOfHIT; equal values are the same type."""

from typing import Any

from common.prepared_sql import PreparedQuery, fields_of, instance_of
from marketplace.configuration import granted_cap_seconds
from marketplace.hits.keywords import stated_terms
from marketplace.hits.review_policies import refresh
from marketplace.models import HITType
from marketplace.models.hits import fingerprint_of
from marketplace.money.amounts import cents_of
from marketplace.operations.ownership import own_hit, require_changeable
from marketplace.people.qualifications import requirements
from marketplace.wire.errors import DoesNotExist, InvalidParameter
from marketplace.wire.registry import Call, operation

LONGEST_SECONDS = 365 * 24 * 3600
LONGEST_AUTO_APPROVAL_SECONDS = 30 * 24 * 3600
MOST_CENTS = 10_000_000
MEMBERS = (
    "AutoApprovalDelayInSeconds",
    "AssignmentDurationInSeconds",
    "Reward",
    "Title",
    "Keywords",
    "Description",
    "QualificationRequirements",
)
TYPE_FIELDS = fields_of(HITType)
SAME_TYPE = PreparedQuery(
    lambda requester, fingerprint: HITType.objects.filter(
        requester=requester, fingerprint=fingerprint
    ).values_list(*TYPE_FIELDS),
    requester=int,
    fingerprint=str,
)
TEXT_LIMITS = {"Title": 128, "Description": 2000, "Keywords": 1000}


@operation("CreateHITType")
def create_hit_type(call: Call, parameters: dict[str, Any]) -> dict[str, Any]:
    """Return the id of the type with these values, made now or before."""
    return {"HITTypeId": hit_type_of(call, parameters).hit_type_id}


@operation("UpdateHITTypeOfHIT")
def update_hit_type_of_hit(call: Call, parameters: dict[str, Any]) -> dict[str, Any]:
    """Give an existing HIT another type; assignments already accepted keep what was promised."""
    kind = own_hit_type(call, parameters["HITTypeId"])
    with own_hit(call, parameters["HITId"]) as hit:
        require_changeable(hit, call.now)
        not_in = hit.assignments.filter(submitted_at=None, auto_approval_delay_seconds=None)
        delay = hit.hit_type.auto_approval_delay_seconds
        not_in.update(auto_approval_delay_seconds=delay)
        hit.hit_type = kind
        refresh(hit, call.now)
    return {}


def own_hit_type(call: Call, hit_type_id: str) -> HITType:
    """Return the caller's HIT type; raises HITTypeDoesNotExist."""
    found = HITType.objects.filter(hit_type_id=hit_type_id, requester=call.requester).first()
    if found is None:
        raise DoesNotExist("HITType", "HITType", hit_type_id)
    return found


def hit_type_of(call: Call, parameters: dict[str, Any]) -> HITType:
    """Return the caller's HIT type with exactly these values; raises InvalidParameterValue."""
    values = type_values(parameters)
    fingerprint = fingerprint_of(values)
    if row := SAME_TYPE.first(requester=call.requester.pk, fingerprint=fingerprint):
        return instance_of(HITType, TYPE_FIELDS, row)
    check_requirements(values.get("QualificationRequirements", []))
    stated = stated_terms(values.get("Keywords", ""))
    found, _ = HITType.objects.get_or_create(
        requester=call.requester,
        fingerprint=fingerprint,
        defaults={
            "title": values["Title"],
            "description": values["Description"],
            "keywords": values.get("Keywords", ""),
            "reward_cents": values["Reward"],
            "assignment_duration_seconds": values["AssignmentDurationInSeconds"],
            "auto_approval_delay_seconds": values["AutoApprovalDelayInSeconds"],
            "requirements": values.get("QualificationRequirements", []),
            "is_once": stated.is_once,
            "is_one_at_a_time": stated.is_one_at_a_time,
            "created_at": call.now,
        },
    )
    return found


def type_values(parameters: dict[str, Any]) -> dict[str, Any]:
    """Return what makes a HIT type, its reward in cents and its delay as granted.

    Raises InvalidParameterValue.
    """
    values = {name: parameters[name] for name in MEMBERS if name in parameters}
    values["Reward"] = cents_of(parameters["Reward"])
    for name, longest in TEXT_LIMITS.items():
        if len(values.get(name, "")) > longest:
            raise InvalidParameter(f"{name} is longer than {longest} characters.")
    for name in ("Title", "Description"):
        if not values[name].strip():
            raise InvalidParameter(f"{name} may not be empty: workers choose by it.")
    if values["Reward"] > MOST_CENTS:
        raise InvalidParameter(f"Reward is more than {MOST_CENTS // 100}.")
    check_seconds("AssignmentDurationInSeconds", values, 30, LONGEST_SECONDS)
    check_seconds("AutoApprovalDelayInSeconds", values, 0, LONGEST_AUTO_APPROVAL_SECONDS)
    # The host caps how long workers wait. What is granted is a value of the type, so that the same
    # values under another cap are another type, and each reply says what holds.
    asked = values.get("AutoApprovalDelayInSeconds", LONGEST_AUTO_APPROVAL_SECONDS)
    values["AutoApprovalDelayInSeconds"] = min(asked, granted_cap_seconds())
    return values


def check_requirements(needs: list[dict[str, Any]]) -> None:
    """Raise InvalidParameterValue unless new HITs may ask all of this of workers."""
    if problem := requirements.problem_with(needs):
        raise InvalidParameter(problem)


def check_seconds(name: str, values: dict[str, Any], least: int, most: int) -> None:
    """Raise InvalidParameterValue unless the duration, if given, lies in its documented range."""
    if name in values and not least <= values[name] <= most:
        raise InvalidParameter(f"{name} has to be from {least} to {most} seconds.")
