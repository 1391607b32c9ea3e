"""What programs do: operations of the requester API and commands, with what is drawn for them."""

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django.conf import settings

from tests.simulator import worlds
from tests.simulator.machine import TIME

if TYPE_CHECKING:
    from tests.simulator.life import Life

QUESTION = (
    '<QuestionForm xmlns="http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/'
    '2017-11-06/QuestionForm.xsd"><Question><QuestionIdentifier>q</QuestionIdentifier>'
    "<QuestionContent><Text>Which?</Text></QuestionContent><AnswerSpecification><FreeTextAnswer/>"
    "</AnswerSpecification></Question></QuestionForm>"
)
# Which come more often than the others, so that there is something to do for those.
OFTEN = ("CreateHIT", "CreateHIT", "CreateHIT", "ApproveAssignment", "CreateQualificationType")
COMMANDS = {
    "collect": [],
    "validate_answers": [],
    "estimate": [],
    "doctor": None,
    "report": [],
    "publish": [],
    "make_splits": [],
}


def call(life: "Life") -> str:
    """Call an operation for Leo, or for the collection's own account; a refusal is fine."""
    from botocore.exceptions import ClientError

    from marketplace.models import HIT
    from marketplace.wire.calls import OPERATIONS

    name = life.rng.choice((*sorted(OPERATIONS), *OFTEN))
    own = life.rng.random() < 0.15 and name in ("SendBonus", "ApproveAssignment", "ListHITs")
    account = "Rita" if own else "Leo"
    given = _given(life, name, account)
    if given is None:
        return f"{name}: nothing"
    client = worlds.wire(settings.MTURK_KEYS_FILE if own else worlds.programs_keys())
    try:
        reply = client._make_api_call(name, given)
    except ClientError as refused:
        return f"{name}: {refused.response['Error']['Code']}"
    _note_qualifications(life, name, given)
    there = HIT.objects.filter(requester__name=account, disposed_at=None)
    if name == "ListHITs" and not reply["HITs"] and there.exists():
        life.said.faults.append("ListHITs: nothing, while there are HITs")
    life.reached[name] += 1
    return f"{name} by {account}"


def _note_qualifications(life: "Life", name: str, given: dict[str, Any]) -> None:
    """Note what a program takes away from a worker, and what it gives."""
    if name == "AcceptQualificationRequest":
        life.said.taken_away.clear()
    elif name.endswith("FromWorker") or name == "AssociateQualificationWithWorker":
        one = given["QualificationTypeId"], given["WorkerId"]
        (life.said.taken_away.add if name[0] == "D" else life.said.taken_away.discard)(one)


def approve(assignment_id: str, *, is_ours: bool) -> str:
    """Let a program approve a piece of work of the collection's account, or of Leo's."""
    from botocore.exceptions import ClientError

    client = worlds.wire(settings.MTURK_KEYS_FILE if is_ours else worlds.programs_keys())
    try:
        client.approve_assignment(AssignmentId=assignment_id)
    except ClientError as refused:
        return str(refused.response["Error"]["Code"])
    return "approved"


def _given(life: "Life", name: str, account: str) -> dict[str, Any] | None:
    """Return what is drawn for the members of an operation; None where there is nothing to name."""
    from marketplace.models import HIT, Assignment, HITType, QualificationRequest, QualificationType

    rng = life.rng
    hits = HIT.objects.filter(requester__name=account)
    types = QualificationType.objects.filter(requester__name=account)
    work = Assignment.objects.filter(hit__in=hits)
    rows: dict[str, Any] = {
        "HITId": hits.values_list("hit_id"),
        "HITTypeId": HITType.objects.filter(requester__name=account).values_list("hit_type_id"),
        "AssignmentId": work.values_list("assignment_id", "worker__worker_id"),
        "QualificationTypeId": types.values_list("qualification_type_id"),
        "QualificationRequestId": QualificationRequest.objects.filter(
            qualification_type__in=types
        ).values_list("request_id"),
    }
    drawn: dict[str, Any] = {"WorkerId": rng.choice(life.workers).worker.worker_id}
    for key, found in rows.items():
        if keys := list(found.order_by("pk")):
            drawn[key], *worker = rng.choice(keys)
            drawn |= {"WorkerId": worker[0]} if worker and "Worker" not in name else {}
    drawn |= {
        **dict.fromkeys(("Title", "Description", "Subject", "MessageText"), "By a program"),
        **dict.fromkeys(("Reason", "RequesterFeedback"), f"Because {rng.random()}."),
        **dict.fromkeys(("Name", "UniqueRequestToken", "RequesterAnnotation"), f"{rng.random()}"),
        **dict.fromkeys(("AutoGranted", "OverrideRejection", "Revert", "Active"), True),
        **dict.fromkeys(("SendNotification", "MustBeRequestable"), rng.random() < 0.5),
        "Reward": rng.choice(("0.05", "0.50", "1.00")),
        "BonusAmount": "0.33",
        "MaxAssignments": rng.randint(1, 3),
        "NumberOfAdditionalAssignments": 1,
        "AssignmentDurationInSeconds": 600,
        "AutoApprovalDelayInSeconds": 7200,
        "LifetimeInSeconds": 3600,
        "TestDurationInSeconds": 600,
        "RetryDelayInSeconds": 3600,
        "ExpireAt": TIME.now() + timedelta(hours=rng.choice((-1, 1))),
        **dict.fromkeys(("Question", "Test"), QUESTION),
        "QuestionIdentifier": "q",
        "Keywords": rng.choice(("", "once:yes", "one-at-a-time:yes")),
        "QualificationTypeStatus": "Active",
        "AutoGrantedValue": 1,
        "IntegerValue": 1,
        "WorkerIds": [drawn["WorkerId"]],
        "TestEventType": "HITExpired",
        "Notification": {
            "Destination": "https://lab.example/heard",
            "Transport": "SNS",
            "Version": "2006-05-05",
            "EventTypes": ["HITExpired"],
        },
    }
    if key := drawn.get("QualificationTypeId"):
        required = {"QualificationTypeId": key, "Comparator": "Exists"}
        drawn["QualificationRequirements"] = [required]
    shape = worlds.wire(worlds.programs_keys()).meta.service_model.operation_model(name).input_shape
    needed = {*shape.required_members, *(("Question",) if name.startswith("CreateHIT") else ())}
    needed -= {"Question"} - {*shape.members}
    if needed - {*drawn}:
        return None
    needed |= {key for key in shape.members if rng.random() < 0.4}
    return {key: value for key, value in drawn.items() if key in needed}


def run_command(life: "Life") -> str:
    """Run a command by a process of its own."""
    name = life.rng.choice(sorted(COMMANDS))
    options = COMMANDS[name]
    given = [] if options is None else [worlds.SLUG, *options]
    told = life.ask(life.idle(life.web), "command", name, *given)
    life.reached[name] += 1
    return f"{name}: {str(told)[:60]!r}"
