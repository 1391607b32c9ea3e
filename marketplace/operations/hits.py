"""CreateHIT and CreateHITWithHITType."""

from datetime import timedelta
from typing import Any

from django.db import transaction

from common.prepared_sql import insert
from marketplace import clock
from marketplace.configuration import is_own_origin
from marketplace.hits.audience import warn_if_nobody
from marketplace.hits.questions.question import (
    AnyQuestion,
    QuestionError,
    UnsupportedQuestionError,
    read_question,
)
from marketplace.models import HIT, ReviewPolicy
from marketplace.models.identifiers import new_entity_id
from marketplace.money import funds
from marketplace.notifications.events import record_event
from marketplace.operations.descriptions import describe_hit
from marketplace.operations.hit_types import (
    LONGEST_SECONDS,
    check_requirements,
    check_seconds,
    hit_type_of,
    own_hit_type,
    type_values,
)
from marketplace.operations.layouts import question_of
from marketplace.operations.posting import post
from marketplace.operations.reviews import policies_in
from marketplace.operations.tokens import AlreadyDoneError, claim_token
from marketplace.router import DATABASE
from marketplace.wire.errors import InvalidParameter, NotSupported, RequestError
from marketplace.wire.registry import Call, operation
from marketplace.wire.replay_protection import refuse_replay

MOST_ASSIGNMENTS = 1_000_000


@operation("CreateHIT", is_remembering=True)
def create_hit(call: Call, parameters: dict[str, Any]) -> dict[str, Any]:
    """Return a new HIT of a type made by value."""
    hit, values = _new_hit(call, parameters), type_values(parameters)
    check_requirements(values.get("QualificationRequirements", []))
    if "UniqueRequestToken" in parameters or hit.has_review_policies:
        refuse_replay(call.attempt, clock.wall())
    elif post(call, hit, values):
        return _told(call, hit)
    return _create(call, "CreateHIT", hit, parameters)


@operation("CreateHITWithHITType")
def create_hit_with_hit_type(call: Call, parameters: dict[str, Any]) -> dict[str, Any]:
    """Return a new HIT of an existing type."""
    return _create(call, "CreateHITWithHITType", _new_hit(call, parameters), parameters)


def _create(call: Call, name: str, hit: HIT, parameters: dict[str, Any]) -> dict[str, Any]:
    try:
        with transaction.atomic(using=DATABASE):
            claim_token(call, name, parameters.get("UniqueRequestToken"), hit.hit_id)
            if name == "CreateHIT":
                hit.hit_type = hit_type_of(call, parameters)
            else:
                hit.hit_type = own_hit_type(call, parameters["HITTypeId"])
                # What a type asks for can have become inactive or been deleted since.
                check_requirements(hit.hit_type.requirements)
            hit.held_cents = hit.max_assignments * hit.hit_type.reward_cents
            funds.move(call.requester.pk, hit.held_cents)
            insert(hit)
            for level, asked in policies_in(parameters).items():
                ReviewPolicy.objects.create(hit=hit, level=level, parameters=asked)
            record_event(hit, "HITCreated", call.now)
    except AlreadyDoneError as error:
        raise RequestError(
            "HITAlreadyExists",
            f"The HIT with ID {error.subject} already exists for this UniqueRequestToken.",
        ) from None
    return _told(call, hit)


def _told(call: Call, hit: HIT) -> dict[str, Any]:
    warn_if_nobody(hit.hit_type)
    return {"HIT": describe_hit(hit, call.now)}


def _new_hit(call: Call, parameters: dict[str, Any]) -> HIT:
    """Return the HIT asked for, neither kept yet nor given its type and money."""
    xml, question = _checked_question(call, parameters)
    check_seconds("LifetimeInSeconds", parameters, 30, LONGEST_SECONDS)
    n_assignments = parameters.get("MaxAssignments", 1)
    if not 1 <= n_assignments <= MOST_ASSIGNMENTS:
        raise InvalidParameter(f"MaxAssignments has to be from 1 to {MOST_ASSIGNMENTS}.")
    if len(parameters.get("RequesterAnnotation", "")) > 255:
        raise InvalidParameter("RequesterAnnotation is longer than 255 characters.")
    expires_at = call.now + timedelta(seconds=parameters["LifetimeInSeconds"])
    return HIT(
        hit_id=new_entity_id(),
        requester_id=call.requester.pk,
        question=xml,
        external_url=question.url,
        frame_height=question.frame_height,
        annotation=parameters.get("RequesterAnnotation", ""),
        max_assignments=n_assignments,
        first_max_assignments=n_assignments,
        n_open=n_assignments,
        created_at=call.now,
        expires_at=expires_at,
        next_due_at=expires_at,
        has_review_policies=bool(policies_in(parameters)),
    )


def _checked_question(call: Call, parameters: dict[str, Any]) -> tuple[str, AnyQuestion]:
    xml = question_of(call, parameters)
    try:
        question = read_question(xml)
    except UnsupportedQuestionError as error:
        raise NotSupported(str(error)) from None
    except QuestionError as error:
        raise RequestError("XMLParseError", str(error)) from None
    if is_own_origin(question.url, call.request):
        raise InvalidParameter(
            "ExternalURL is on the marketplace's own host and port; serve the task from another, "
            "or workers' browsers could not keep the two apart."
        )
    return xml, question
