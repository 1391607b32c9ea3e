"""CreateHIT, CreateHITWithHITType, CreateHITType and UpdateHITTypeOfHIT.

Equal values are the same type.
"""

import re
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

from django.db.models import DateTimeField, F, FloatField, Func, Value
from django.db.models.functions import NullIf

from common.prepared_sql import PreparedQuery, fields_of, insert, instance_of
from marketplace import funds
from marketplace.amounts import amount_of, cents_of
from marketplace.configuration import granted_cap_seconds, is_own_origin
from marketplace.hits.access import warn_if_nobody
from marketplace.hits.lifecycle import refresh
from marketplace.hits.review_rules import PolicyError, read_policy
from marketplace.models import HIT, HITType, Project, ReviewLevel, ReviewPolicy
from marketplace.models.hits import fingerprint_of, status_at
from marketplace.models.identifiers import new_entity_id
from marketplace.models.keywords import stated_terms
from marketplace.notifications.events import record_event
from marketplace.operations.ownership import own_hit, require_changeable
from marketplace.people.requirements import described, problem_with
from marketplace.questions.question import (
    QuestionError,
    UnsupportedQuestionError,
    read_question,
)
from marketplace.questions.template import (
    document,
    filled,
    question_xml,
    template_of,
    variables,
)
from marketplace.router import atomic
from marketplace.wire.calls import (
    AlreadyDoneError,
    Call,
    DoesNotExist,
    InvalidParameter,
    NotSupported,
    RequestError,
    claim_token,
    operation,
)

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
# The members of the model's HIT and their columns; its type has the others, time decides HITStatus.
HIT_COLUMNS = {
    "HITId": "hit_id",
    "CreationTime": "created_at",
    "Question": "question",
    "MaxAssignments": "max_assignments",
    "Expiration": "expires_at",
    "RequesterAnnotation": "annotation",
    "NumberOfAssignmentsPending": "n_pending",
    "NumberOfAssignmentsAvailable": "n_open",
    "NumberOfAssignmentsCompleted": "n_completed",
}


class Epoch(Func):
    """The epoch seconds of a time column, exact to milliseconds, as the wire has them."""

    output_field = FloatField()
    arity = 1
    template = "ROUND(EXTRACT(EPOCH FROM %(expressions)s), 3)::float8"

    def get_db_converters(self, connection: Any) -> list[Any]:
        """Return nothing to call on each value: both databases give floats."""
        return []

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> Any:
        """Return SQL for SQLite, whose times are text and Julian days exact to milliseconds."""
        # 2440587.5 is the Julian day on which 1970 began.
        template = "ROUND((JULIANDAY(%(expressions)s) - 2440587.5) * 86400.0, 3)"
        return self.as_sql(compiler, connection, template=template, **context)


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
    if problem := problem_with(needs):
        raise InvalidParameter(problem)


def check_seconds(name: str, values: dict[str, Any], least: int, most: int) -> None:
    """Raise InvalidParameterValue unless the duration, if given, lies in its documented range."""
    if name in values and not least <= values[name] <= most:
        raise InvalidParameter(f"{name} has to be from {least} to {most} seconds.")


MOST_ASSIGNMENTS = 1_000_000
LAYOUT_ID = re.compile(Project.LAYOUT + r"([1-9][0-9]{0,17})")


@operation("CreateHIT")
@operation("CreateHITWithHITType")
def create_hit(call: Call, parameters: dict[str, Any]) -> dict[str, Any]:
    """Return a new HIT: of a type made by value, or of the existing one that is named.

    Checked in this order: shape, type, question, reviews, money; the row comes last. Either all of
    it is kept or nothing. Raises WireError for each of them, and InsufficientFundsError.
    """
    # Shape.
    check_seconds("LifetimeInSeconds", parameters, 30, LONGEST_SECONDS)
    n_assignments = parameters.get("MaxAssignments", 1)
    if not 1 <= n_assignments <= MOST_ASSIGNMENTS:
        raise InvalidParameter(f"MaxAssignments has to be from 1 to {MOST_ASSIGNMENTS}.")
    annotation = parameters.get("RequesterAnnotation", "")
    if len(annotation) > 255:
        raise InvalidParameter("RequesterAnnotation is longer than 255 characters.")
    with atomic():
        # Type.
        type_id = parameters.get("HITTypeId")
        if type_id is None:
            name, kind = "CreateHIT", hit_type_of(call, parameters)
        else:
            name, kind = "CreateHITWithHITType", own_hit_type(call, type_id)
        # What a type asks for can have become inactive or been deleted since it was made.
        check_requirements(kind.requirements)
        # Question.
        xml = question_of(call, parameters)
        try:
            question = read_question(xml)
        except UnsupportedQuestionError as error:
            raise NotSupported(str(error)) from None
        except QuestionError as error:
            raise RequestError("XMLParseError", str(error)) from None
        if is_own_origin(question.url, call.request):
            raise InvalidParameter(
                "ExternalURL is on the marketplace's own host and port; serve the task from "
                "another, or workers' browsers could not keep the two apart."
            )
        # Reviews.
        try:
            policies = {
                level: read_policy(level, parameters[f"{level}ReviewPolicy"])
                for level in ReviewLevel.values
                if f"{level}ReviewPolicy" in parameters
            }
        except PolicyError as error:
            raise InvalidParameter(str(error)) from None
        # Money, once per token.
        hit_id, held_cents = new_entity_id(), n_assignments * kind.reward_cents
        try:
            claim_token(call, name, parameters.get("UniqueRequestToken"), hit_id)
        except AlreadyDoneError as error:
            raise RequestError(
                "HITAlreadyExists",
                f"The HIT with ID {error.subject} already exists for this UniqueRequestToken.",
            ) from None
        funds.move(call.requester.pk, held_cents)
        # Row.
        expires_at = call.now + timedelta(seconds=parameters["LifetimeInSeconds"])
        hit = HIT(
            hit_id=hit_id,
            requester_id=call.requester.pk,
            hit_type=kind,
            question=xml,
            external_url=question.url,
            frame_height=question.frame_height,
            annotation=annotation,
            max_assignments=n_assignments,
            first_max_assignments=n_assignments,
            n_open=n_assignments,
            held_cents=held_cents,
            created_at=call.now,
            expires_at=expires_at,
            next_due_at=expires_at,
            has_review_policies=bool(policies),
        )
        insert(hit)
        for level, asked in policies.items():
            ReviewPolicy.objects.create(hit=hit, level=level, parameters=asked)
        record_event(hit, "HITCreated", call.now)
    warn_if_nobody(kind)
    return {"HIT": describe_hit(hit, call.now)}


def question_of(call: Call, parameters: dict[str, Any]) -> str:
    """Return the question of a new HIT: its own, or that of the layout that it names.

    Raises HITLayoutDoesNotExist, or InvalidParameterValue for values that do not fit the layout.
    """
    layout_id = parameters.get("HITLayoutId")
    if layout_id is None:
        if parameters.get("HITLayoutParameters"):
            raise InvalidParameter("HITLayoutParameters belong to a HITLayoutId; give that, too.")
        if "Question" not in parameters:
            raise InvalidParameter("Give the Question of the HIT, or a HITLayoutId.")
        return str(parameters["Question"])
    if "Question" in parameters:
        raise InvalidParameter("Give either a Question or a HITLayoutId.")
    key = LAYOUT_ID.fullmatch(layout_id)
    project = call.requester.projects.filter(pk=int(key[1])).first() if key else None
    if project is None:
        raise DoesNotExist("HITLayout", "HITLayout", layout_id)
    given = parameters.get("HITLayoutParameters", [])
    values = {one["Name"]: one["Value"] for one in given}
    if len(values) < len(given):
        raise InvalidParameter("A HITLayoutParameter is given twice.")
    html = template_of(project.terms())
    wanted = set(variables(html))
    if missing := wanted - set(values):
        raise InvalidParameter(f"The layout needs the HITLayoutParameter {min(missing)}.")
    if unknown := set(values) - wanted:
        raise InvalidParameter(f"The layout has no HITLayoutParameter {min(unknown)}.")
    page = filled(html, values, are_html=project.values_are_html)
    return question_xml(document(page, project.title))


def hit_members(now: datetime) -> dict[str, Any]:
    """Return the members of the model's HIT that its type lacks, as expressions of its columns."""
    expressions = {member: _expression(column) for member, column in HIT_COLUMNS.items()}
    return {**expressions, "HITStatus": status_at(now)}


def _expression(column: str) -> Any:
    field = HIT._meta.get_field(column)
    if isinstance(field, DateTimeField):
        return Epoch(column)
    return NullIf(column, Value("")) if getattr(field, "blank", False) else F(column)


def type_members(hit_type_id: str) -> dict[str, Any]:
    """Return the members of the model's HIT that its type has, to be read only."""
    return _kept_members(hit_type_id, granted_cap_seconds())


@lru_cache(maxsize=1024)
def _kept_members(hit_type_id: str, cap_seconds: int) -> dict[str, Any]:
    """Return the members under a cap of the host's.

    They are kept, because a type's values never change and its id is nobody else's ever.
    """
    kind = HITType.objects.get(hit_type_id=hit_type_id)
    return {
        "HITTypeId": kind.hit_type_id,
        "HITGroupId": kind.hit_group_id,
        "Title": kind.title,
        "Description": kind.description,
        "Keywords": kind.keywords or None,
        "Reward": amount_of(kind.reward_cents),
        "AutoApprovalDelayInSeconds": min(kind.auto_approval_delay_seconds, cap_seconds),
        "AssignmentDurationInSeconds": kind.assignment_duration_seconds,
        "QualificationRequirements": [described(need) for need in kind.requirements],
        "HITReviewStatus": "NotReviewed",
    }


def describe_hit(hit: HIT, now: datetime) -> dict[str, Any]:
    """Return the model's HIT; expects one that was settled at `now`, with its type loaded."""
    values = {member: getattr(hit, column) for member, column in HIT_COLUMNS.items()}
    values["RequesterAnnotation"] = values["RequesterAnnotation"] or None
    return {**type_members(hit.hit_type.hit_type_id), **values, "HITStatus": hit.status(now)}
