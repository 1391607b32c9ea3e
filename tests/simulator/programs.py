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
# What is drawn for an operation: of everything that Leo's program can name, one.
OPERATIONS = (
    "CreateHIT",
    "CreateHIT",
    "ListHITs",
    "ListReviewableHITs",
    "ListAssignmentsForHIT",
    "ApproveAssignment",
    "RejectAssignment",
    "SendBonus",
    "UpdateExpirationForHIT",
    "CreateAdditionalAssignmentsForHIT",
    "DeleteHIT",
    "GetAccountBalance",
    "NotifyWorkers",
    "CreateQualificationType",
    "AssociateQualificationWithWorker",
    "DisassociateQualificationFromWorker",
    "ListQualificationRequests",
    "AcceptQualificationRequest",
    "RejectQualificationRequest",
    "CreateWorkerBlock",
    "DeleteWorkerBlock",
)
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

    name = life.rng.choice(OPERATIONS)
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
    """Return what is drawn for an operation; None where there is nothing to name."""
    from marketplace.models import HIT, Assignment, QualificationRequest, QualificationType

    rng = life.rng
    worker = rng.choice(life.workers).worker.worker_id
    hits = HIT.objects.filter(requester__name=account).order_by("pk")
    work = Assignment.objects.filter(hit__in=hits).select_related("worker").order_by("pk")
    types = QualificationType.objects.filter(requester__name=account).order_by("pk")
    many = {"HIT": list(hits), "Assignment": list(work), "Qualification": list(types)}
    one = {kind: rng.choice(rows) for kind, rows in many.items() if rows}
    if name == "CreateHIT":
        required = {"QualificationRequirements": [_required(one)]} if "Qualification" in one else {}
        return {
            "Title": "By a program",
            "Description": "d",
            "Reward": rng.choice(("0.05", "0.50", "1.00")),
            "MaxAssignments": rng.randint(1, 3),
            "AssignmentDurationInSeconds": 600,
            "AutoApprovalDelayInSeconds": 7200,
            "LifetimeInSeconds": 3600,
            "Question": QUESTION,
            "Keywords": rng.choice(("", "once:yes", "one-at-a-time:yes")),
            **(required if rng.random() < 0.3 else {}),
        }
    if name in ("ApproveAssignment", "RejectAssignment", "SendBonus"):
        if "Assignment" not in one:
            return None
        given: dict[str, Any] = {"AssignmentId": one["Assignment"].assignment_id}
        if name == "RejectAssignment":
            given["RequesterFeedback"] = "Because."
        elif name == "SendBonus":
            given |= {"WorkerId": one["Assignment"].worker.worker_id, "BonusAmount": "0.33"}
            given |= {"Reason": f"Good, {rng.random()}.", "UniqueRequestToken": str(rng.random())}
        return given
    if name == "CreateQualificationType":
        more: dict[str, Any] = rng.choice(
            (
                {"AutoGranted": True, "AutoGrantedValue": 1},
                {"Test": QUESTION, "TestDurationInSeconds": 600},
                {},
            )
        )
        if rng.random() < 0.5:
            more = {**more, "RetryDelayInSeconds": 3600}
        number = f"Test {rng.random()}"
        return {"Name": number, "Description": "d", "QualificationTypeStatus": "Active", **more}
    if name in ("AssociateQualificationWithWorker", "DisassociateQualificationFromWorker"):
        if "Qualification" not in one:
            return None
        return {
            "QualificationTypeId": one["Qualification"].qualification_type_id,
            "WorkerId": worker,
        }
    if name in ("AcceptQualificationRequest", "RejectQualificationRequest"):
        asked = QualificationRequest.objects.filter(qualification_type__in=types).order_by("pk")
        keys = list(asked.values_list("request_id", flat=True))
        return {"QualificationRequestId": rng.choice(keys)} if keys else None
    if name in ("CreateWorkerBlock", "DeleteWorkerBlock"):
        return {"WorkerId": worker, **({"Reason": "Spam."} if name[0] == "C" else {})}
    if name == "NotifyWorkers":
        return {"Subject": "Hello", "MessageText": "There is work.", "WorkerIds": [worker]}
    if name in ("ListHITs", "ListReviewableHITs", "GetAccountBalance", "ListQualificationRequests"):
        return {}
    if "HIT" not in one:
        return None
    given = {"HITId": one["HIT"].hit_id}
    if name == "UpdateExpirationForHIT":
        given["ExpireAt"] = TIME.now() + timedelta(hours=rng.choice((-1, 1)))
    elif name == "CreateAdditionalAssignmentsForHIT":
        given["NumberOfAdditionalAssignments"] = 1
    return given


def _required(one: dict[str, Any]) -> dict[str, str]:
    return {
        "QualificationTypeId": one["Qualification"].qualification_type_id,
        "Comparator": "Exists",
    }


def run_command(life: "Life") -> str:
    """Run a command by a process of its own."""
    name = life.rng.choice(sorted(COMMANDS))
    options = COMMANDS[name]
    given = [] if options is None else [worlds.SLUG, *options]
    told = life.ask(life.idle(life.web), "command", name, *given)
    life.reached[name] += 1
    return f"{name}: {str(told)[:60]!r}"
