"""CreateHIT and CreateHITWithHITType."""

import re
from datetime import timedelta
from typing import Any

from django.db import transaction

from common.prepared_sql import insert
from marketplace.configuration import is_own_origin
from marketplace.hits.audience import warn_if_nobody
from marketplace.hits.questions.question import (
    QuestionError,
    UnsupportedQuestionError,
    read_question,
)
from marketplace.hits.questions.template import (
    document,
    filled,
    question_xml,
    template_of,
    variables,
)
from marketplace.models import HIT, Project, ReviewPolicy
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
)
from marketplace.operations.reviews import policies_in
from marketplace.operations.tokens import AlreadyDoneError, claim_token
from marketplace.router import DATABASE
from marketplace.wire.errors import DoesNotExist, InvalidParameter, NotSupported, RequestError
from marketplace.wire.registry import Call, operation

MOST_ASSIGNMENTS = 1_000_000
LAYOUT_ID = re.compile(Project.LAYOUT + r"([1-9][0-9]{0,17})")


@operation("CreateHIT")
def create_hit(call: Call, parameters: dict[str, Any]) -> dict[str, Any]:
    """Return a new HIT of a type made by value."""
    return _create(call, "CreateHIT", parameters)


@operation("CreateHITWithHITType")
def create_hit_with_hit_type(call: Call, parameters: dict[str, Any]) -> dict[str, Any]:
    """Return a new HIT of an existing type."""
    return _create(call, "CreateHITWithHITType", parameters)


def _create(call: Call, name: str, parameters: dict[str, Any]) -> dict[str, Any]:
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
    check_seconds("LifetimeInSeconds", parameters, 30, LONGEST_SECONDS)
    n_assignments = parameters.get("MaxAssignments", 1)
    if not 1 <= n_assignments <= MOST_ASSIGNMENTS:
        raise InvalidParameter(f"MaxAssignments has to be from 1 to {MOST_ASSIGNMENTS}.")
    annotation = parameters.get("RequesterAnnotation", "")
    if len(annotation) > 255:
        raise InvalidParameter("RequesterAnnotation is longer than 255 characters.")
    policies = policies_in(parameters)
    expires_at = call.now + timedelta(seconds=parameters["LifetimeInSeconds"])
    hit = HIT(
        hit_id=new_entity_id(),
        requester_id=call.requester.pk,
        question=xml,
        external_url=question.url,
        frame_height=question.frame_height,
        annotation=annotation,
        max_assignments=n_assignments,
        first_max_assignments=n_assignments,
        n_open=n_assignments,
        created_at=call.now,
        expires_at=expires_at,
        next_due_at=expires_at,
        has_review_policies=bool(policies),
    )
    try:
        with transaction.atomic(using=DATABASE):
            claim_token(call, name, parameters.get("UniqueRequestToken"), hit.hit_id)
            if name == "CreateHIT":
                hit.hit_type = hit_type_of(call, parameters)
            else:
                hit.hit_type = own_hit_type(call, parameters["HITTypeId"])
            # What a type asks for can have become inactive or been deleted since it was made.
            check_requirements(hit.hit_type.requirements)
            hit.held_cents = n_assignments * hit.hit_type.reward_cents
            funds.move(call.requester.pk, hit.held_cents)
            insert(hit)
            for level, asked in policies.items():
                ReviewPolicy.objects.create(hit=hit, level=level, parameters=asked)
            record_event(hit, "HITCreated", call.now)
    except AlreadyDoneError as error:
        raise RequestError(
            "HITAlreadyExists",
            f"The HIT with ID {error.subject} already exists for this UniqueRequestToken.",
        ) from None
    warn_if_nobody(hit.hit_type)
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
    return _filled(_own(call, layout_id), parameters.get("HITLayoutParameters", []))


def _own(call: Call, layout_id: str) -> Project:
    key = LAYOUT_ID.fullmatch(layout_id)
    found = call.requester.projects.filter(pk=int(key[1])).first() if key else None
    if found is None:
        raise DoesNotExist("HITLayout", "HITLayout", layout_id)
    return found


def _filled(project: Project, given: list[dict[str, str]]) -> str:
    html = template_of(project.terms())
    values = {one["Name"]: one["Value"] for one in given}
    if len(values) < len(given):
        raise InvalidParameter("A HITLayoutParameter is given twice.")
    wanted = set(variables(html))
    if missing := wanted - set(values):
        raise InvalidParameter(f"The layout needs the HITLayoutParameter {min(missing)}.")
    if unknown := set(values) - wanted:
        raise InvalidParameter(f"The layout has no HITLayoutParameter {min(unknown)}.")
    page = filled(html, values, are_html=project.values_are_html)
    return question_xml(document(page, project.title))
