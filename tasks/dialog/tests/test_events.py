"""Whatever happens in whatever order: no illegal state, an end for everybody, all of it paid."""

import pytest
from django.db import transaction
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tasks.dialog.tests.events import Crowd, check, check_over
from tasks.dialog.tests.making import make_dialogs, make_talker
from tasks.models import Dialog
from tasks.tests.making import stage_of

pytestmark = [pytest.mark.django_db, pytest.mark.once]
PEOPLE = 4
ACTS = (
    *("come", "sign", "cut", "ready", "finish", "return", "look after", "power cut"),
    *("ask", "answer", "answer none", "end", "report"),
)
PAUSES = (0, 1, 10, 40, 70, 130, 400)

# A crowd that only comes and goes never talks: half of the examples begin with two who do.
events = st.lists(
    st.tuples(st.sampled_from(ACTS), st.integers(0, PEOPLE - 1), st.sampled_from(PAUSES)),
    max_size=40,
)
TWO_MEET = [("come", 0, 0), ("come", 1, 5), ("ready", 0, 2), ("ready", 1, 2)]
TURN = [(act, who, 1) for act in ("ask", "answer") for who in (0, 1)]


@pytest.fixture
def crowd():
    collection = make_dialogs(3, budget_cents=3_000)
    stage = stage_of(collection, "dialog")
    roles = [("student", "teacher"), ("student", "teacher"), ("student",), ("teacher",)]
    workers = [make_talker(collection, f"A{who}", *each) for who, each in enumerate(roles)]
    return stage, workers


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@example(meet=True, then=[*TURN * 13, ("look after", 0, 1)])
@example(meet=True, then=[*TURN * 3, ("return", 0, 1), ("power cut", 0, 1), ("look after", 0, 1)])
@example(meet=True, then=[*TURN, ("report", 1, 1), ("come", 2, 1), ("look after", 0, 1)])
@given(meet=st.booleans(), then=events)
def test_whatever_happens_everybody_is_done_and_paid_in_the_end(crowd, meet, then):
    stage, workers = crowd
    with transaction.atomic():
        stage.refresh_from_db()
        people = Crowd(stage, workers)
        for event in [*(TWO_MEET if meet else []), *then]:
            people.happen(*event)
            check(people)
        assert Dialog.objects.exists() or not meet
        people.go_home()
        check(people)
        check_over(people)
        transaction.set_rollback(True)
