"""What programs do: operations of the requester API and commands, with what is drawn for them."""

from datetime import timedelta
from typing import TYPE_CHECKING, Any

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
# What changes the HITs of a collection behind its back is said by its pages; here these are left.
OPERATIONS = (
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
    """Call one operation; a refusal is fine, a fault is not."""
    from botocore.exceptions import ClientError
    from django.conf import settings

    from marketplace.models import HIT, Assignment

    rng = life.rng
    name = rng.choice(OPERATIONS)
    own = HIT.objects.filter(requester=life.requester).order_by("pk")
    # Those that it has put up itself.
    hits = list(own.filter(hit_type__title="By a program").values_list("hit_id", flat=True))
    given: dict[str, Any] = {}
    if name == "CreateHIT":
        given = {
            "Title": "By a program",
            "Description": "d",
            "Reward": rng.choice(("0.05", "0.50", "1.00")),
            "MaxAssignments": rng.randint(1, 3),
            "AssignmentDurationInSeconds": 600,
            "AutoApprovalDelayInSeconds": 7200,
            "LifetimeInSeconds": 3600,
            "Question": QUESTION,
        }
    elif name in ("ApproveAssignment", "RejectAssignment", "SendBonus"):
        work = list(Assignment.objects.filter(hit__hit_id__in=hits).order_by("pk"))
        if not work:
            return f"{name}: nothing"
        one = rng.choice(work)
        given = {"AssignmentId": one.assignment_id}
        if name == "RejectAssignment":
            given["RequesterFeedback"] = "Because."
        elif name == "SendBonus":
            given |= {"WorkerId": one.worker.worker_id, "BonusAmount": "0.33", "Reason": "Good."}
    elif name == "NotifyWorkers":
        people = [visitor.worker.worker_id for visitor in life.workers[:2]]
        given = {"Subject": "Hello", "MessageText": "There is work.", "WorkerIds": people}
    elif name not in ("ListHITs", "ListReviewableHITs", "GetAccountBalance"):
        if not hits:
            return f"{name}: no HIT"
        given = {"HITId": rng.choice(hits)}
        if name == "UpdateExpirationForHIT":
            given["ExpireAt"] = TIME.now() + timedelta(hours=rng.choice((-1, 1)))
        elif name == "CreateAdditionalAssignmentsForHIT":
            given["NumberOfAdditionalAssignments"] = 1
    client = worlds.wire(settings.MTURK_KEYS_FILE)
    try:
        reply = client._make_api_call(name, given)
    except ClientError as refused:
        return f"{name}: {refused.response['Error']['Code']}"
    if name == "ListHITs" and not reply["HITs"] and own.exists():
        life.said.faults.append("ListHITs: nothing, while there are HITs")
    return name


def run_command(life: "Life") -> str:
    """Run a command by a process of its own."""
    name = life.rng.choice(sorted(COMMANDS))
    options = COMMANDS[name]
    given = [] if options is None else [worlds.SLUG, *options]
    told = life.ask(life.web, "command", name, *given)
    life.reached[f"command {name}"] += 1
    return f"{name}: {str(told)[:60]!r}"
