"""Prepares what the marketplace's benchmarks ask for: a requester, HITs, answers, visitors."""

import json
from datetime import timedelta
from pathlib import Path

from marketplace import clock
from marketplace.hits.acceptance import accept, submit
from marketplace.models import HIT, HITType, Requester, Worker, WorkerSession
from marketplace.models.identifiers import digest, new_entity_id, new_secret
from marketplace.people.accounts import keys_of, open_requester
from marketplace.questions.answers import answers_xml

NUMBER = 100
URL = "https://task.example/hit?unit=7"
QUESTION = (
    '<ExternalQuestion xmlns="http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/'
    f'2006-07-14/ExternalQuestion.xsd"><ExternalURL>{URL}</ExternalURL>'
    "<FrameHeight>0</FrameHeight></ExternalQuestion>"
)


def prepare(folder: str, endpoint: str) -> None:
    """Write posted.json: the requester's keys and the HIT's id."""
    now = clock.now()
    requester = open_requester("Rita", "rita@lab.example", 10**11, now)
    hit = _hit(requester)
    answer = answers_xml([("receipt", ["a receipt of forty characters or so, as usual"])])
    for number in range(NUMBER):
        worker = Worker.objects.create(display_name=f"W{number}", created_at=now)
        submit(accept(worker, hit.hit_id, now), answer, now + timedelta(seconds=number))
    keys = keys_of(requester, endpoint, now)
    found = {
        "access_key_id": keys.access_key_id,
        "secret_access_key": keys.secret_access_key,
        "hit_id": hit.hit_id,
        "question": QUESTION,
    }
    (Path(folder) / "posted.json").write_text(json.dumps(found))


def prepare_visitors(folder: str, number: int) -> None:
    """Write visitors.json: for each of so many HITs its id and the cookie of who takes it."""
    now = clock.now()
    requester = open_requester("Rita", "rita@lab.example", 10**11, now)
    first = _hit(requester, 1)
    hits = [first.hit_id]
    for _ in range(number - 1):
        first.pk, first.hit_id = None, new_entity_id()
        first._state.adding = True
        first.save()
        hits.append(first.hit_id)
    visitors = []
    for person, hit_id in enumerate(hits):
        worker = Worker.objects.create(display_name=f"V{person}", created_at=now)
        token = new_secret()
        WorkerSession.objects.create(
            worker=worker,
            token_digest=digest(token),
            created_at=now,
            expires_at=now + timedelta(days=1),
        )
        visitors.append({"hit": hit_id, "session": token})
    (Path(folder) / "visitors.json").write_text(json.dumps(visitors))


def _hit(requester: Requester, places: int = 2 * NUMBER) -> HIT:
    now = clock.now()
    kind = HITType.objects.create(
        requester=requester,
        fingerprint="benchmark",
        title="Ask questions about a passage",
        description="Read ten paragraphs and ask a question about each.",
        reward_cents=450,
        assignment_duration_seconds=3600,
        auto_approval_delay_seconds=432000,
        created_at=now,
    )
    return HIT.objects.create(
        requester=requester,
        hit_type=kind,
        question=QUESTION,
        external_url=URL,
        annotation="unit 7",
        max_assignments=places,
        first_max_assignments=places,
        n_open=places,
        created_at=now,
        expires_at=now + timedelta(days=7),
    )
