"""What the marketplace's desk shows of a requester; runs in the instance's own desk."""

from django.test import override_settings

from marketplace import clock
from marketplace.models import HIT
from marketplace.people.accounts import keys_of, open_requester
from marketplace.tests.boto import ENDPOINT, mturk_client
from marketplace.tests.conftest import QUESTION
from marketplace.tests.desk import DeskVisitor
from marketplace.tests.test_batches import ROWS, TEMPLATES, project, published
from marketplace.tests.test_desk_qualification_requests import ask
from marketplace.tests.test_taking_tests import made
from marketplace.tests.visitor import Visitor

SENTENCES = ("What a lovely mess you made!", "Nobody told me.", "The harbour was full of boats.")


def open_new_lab(name: str) -> None:
    """Open a requester who has posted nothing."""
    open_requester(name, "new@example.org", 1_000_000, clock.now())


def open_lab(name: str) -> dict[str, int]:
    """Open a requester with a test that somebody took, a HIT and a batch; return their keys."""
    requester = open_requester(name, "lab@example.org", 1_000_000, clock.now())
    client = mturk_client(keys_of(requester, ENDPOINT, clock.now()))
    ida, ruth = Visitor("Ida of the lab"), Visitor("Ruth of the lab")
    test = made(client)
    ida.post(test, test, begin="1")
    ida.post(test, test, depth="pond", why="It is.\nI looked it up, and so did my neighbour.")
    ask(client, ida, ruth)
    hit = client.create_hit(
        Title="Ask questions about a passage",
        Description="Read ten paragraphs and ask a question about each.",
        Reward="4.50",
        AssignmentDurationInSeconds=3600,
        LifetimeInSeconds=86400,
        Question=QUESTION,
        MaxAssignments=2,
    )["HIT"]
    ida.submit(hit, note="The third paragraph was hard.")
    ruth.submit(hit)
    rows = [{**ROWS["radio"], "sentence": sentence} for sentence in SENTENCES]
    with override_settings(MARKETPLACE_OPEN_DESK=False):
        desk = DeskVisitor(f"Somebody of {name}", requester)
        batch = published(desk, project(desk, TEMPLATES["radio"]), rows)
    for one in HIT.objects.filter(batch_row__batch=batch):
        ida.submit({"HITId": one.hit_id}, feeling="annoyed")
    return {"hit": HIT.objects.get(hit_id=hit["HITId"]).pk, "batch": batch.pk}
