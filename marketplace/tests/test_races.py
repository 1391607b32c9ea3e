"""Many at once: threads with connections of their own, one winner."""

from collections.abc import Callable
from datetime import timedelta
from threading import Barrier, Thread
from typing import Any

import pytest
from django.db import connections, transaction

from marketplace import clock, funds
from marketplace.hits.acceptance import RefusedError, accept, accept_next, submit
from marketplace.models import (
    HIT,
    LIVE,
    Assignment,
    AssignmentState,
    BonusPayment,
    ClassCode,
    HITType,
    Message,
    Project,
    QualificationRequest,
    QualificationType,
    Requester,
    Worker,
)
from marketplace.people.accounts import merge
from marketplace.people.grants import add_members, make_group
from marketplace.tests.boto import mturk_client
from marketplace.tests.conftest import DATABASES
from marketplace.tests.desk import DeskVisitor
from marketplace.tests.test_batches import TERMS
from marketplace.tests.test_money import books_balance
from marketplace.tests.visitor import Visitor

N_THREADS = 8

pytestmark = pytest.mark.django_db(databases=DATABASES, transaction=True)


@pytest.fixture(autouse=True)
def _real_connections() -> None:
    connection = connections["marketplace"]
    if connection.vendor == "sqlite" and connection.is_in_memory_db():
        pytest.skip("threads share an in-memory database's connection; use a file")


def at_once(action: Callable[[int], Any]) -> list[Any]:
    """Return what `action` gave each thread, exceptions included, all started together."""
    start, results = Barrier(N_THREADS), [None] * N_THREADS

    def run(n: int) -> None:
        start.wait()
        try:
            results[n] = action(n)
        except Exception as error:
            results[n] = error
        finally:
            connections.close_all()

    threads = [Thread(target=run, args=(n,)) for n in range(N_THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def some_workers() -> list[Worker]:
    now = clock.now()
    return [Worker.objects.create(display_name=f"W{n}", created_at=now) for n in range(N_THREADS)]


def test_tabs_of_one_worker_do_not_pass_the_limit_of_the_queue(
    rita: Any, make_hit: Any, settings: Any
) -> None:
    settings.MARKETPLACE_QUEUE_LIMIT = 3
    hits, worker = [make_hit(rita, Title=f"T{n}") for n in range(N_THREADS)], some_workers()[0]
    results = at_once(lambda n: accept(worker, hits[n]["HITId"], clock.now()))
    assert sum(isinstance(one, Assignment) for one in results) == 3
    assert sum(isinstance(one, RefusedError) for one in results) == N_THREADS - 3


def test_the_last_place_goes_to_one_worker(rita: Any, make_hit: Any) -> None:
    hit, workers = make_hit(rita), some_workers()
    results = at_once(lambda n: accept(workers[n], hit["HITId"], clock.now()))
    won = [one for one in results if isinstance(one, Assignment)]
    lost = [one for one in results if isinstance(one, RefusedError)]
    assert (len(won), len(lost)) == (1, N_THREADS - 1)
    assert Assignment.objects.count() == 1


def test_everybody_gets_a_place_of_their_own(rita: Any, make_hit: Any) -> None:
    for n in range(2):
        make_hit(rita, MaxAssignments=N_THREADS // 2, RequesterAnnotation=str(n))
    kind, workers = HITType.objects.get(), some_workers()
    results = at_once(lambda n: accept_next(workers[n], kind, clock.now()))
    assert all(isinstance(one, Assignment) for one in results), results
    assert len({one.assignment_id for one in results}) == N_THREADS
    assert set(HIT.objects.values_list("n_open", flat=True)) == {0}


def test_all_who_accept_from_one_preview_get_a_place_while_there_are_places(
    rita: Any, make_hit: Any
) -> None:
    hits = [make_hit(rita, RequesterAnnotation=str(n)) for n in range(N_THREADS - 2)]
    kind, workers = HITType.objects.get(), some_workers()
    seen = hits[0]["HITId"]
    results = at_once(lambda n: accept_next(workers[n], kind, clock.now(), seen=seen))
    won = [one.hit_id for one in results if isinstance(one, Assignment)]
    assert len(won) == len(set(won)) == N_THREADS - 2
    assert sum(isinstance(one, RefusedError) for one in results) == 2


def test_one_form_sent_many_times_at_once_gets_one_hit(rita: Any, make_hit: Any) -> None:
    hits = [make_hit(rita, RequesterAnnotation=str(n)) for n in range(N_THREADS)]
    kind, [one, other, *_] = HITType.objects.get(), some_workers()
    seen = hits[0]["HITId"]
    accept(other, seen, clock.now())
    results = at_once(lambda n: accept_next(one, kind, clock.now(), seen=seen, form_key="K"))
    assert {result.pk for result in results} == {Assignment.objects.get(worker=one).pk}


def test_of_one_decision_that_many_make_at_once_there_is_one_message(rita: Any) -> None:
    worker, group = some_workers()[0], make_group("Panel", "", clock.now()).qualification_type

    def add(n: int) -> None:
        with transaction.atomic(using=group._state.db):
            add_members(group, [worker], clock.now())

    assert at_once(add) == [None] * N_THREADS
    made = rita.create_qualification_type(
        Name="Careful", Description="d", QualificationTypeStatus="Active"
    )
    who = {
        "QualificationTypeId": made["QualificationType"]["QualificationTypeId"],
        "WorkerId": worker.worker_id,
    }
    rita.associate_qualification_with_worker(**who, SendNotification=False)
    at_once(lambda n: rita.disassociate_qualification_from_worker(**who))
    told = Message.objects.filter(worker=worker).order_by("pk").values_list("subject", flat=True)
    assert list(told) == [
        "You are in the group “Panel” now",
        "Your qualification “Careful” was withdrawn",
    ]


def test_one_worker_pressing_many_times_gets_one_place(rita: Any, make_hit: Any) -> None:
    hit, worker = make_hit(rita, MaxAssignments=5), some_workers()[0]
    results = at_once(lambda n: accept(worker, hit["HITId"], clock.now()))
    assert len({one.pk for one in results}) == 1


def test_one_form_sent_many_times_is_one_answer(rita: Any, make_hit: Any) -> None:
    hit, worker = make_hit(rita), some_workers()[0]
    taken = accept(worker, hit["HITId"], clock.now())
    results = at_once(
        lambda n: submit(Assignment.objects.get(pk=taken.pk), f"answer {n}", clock.now())
    )
    assert sorted(results) == [False] * (N_THREADS - 1) + [True]
    assert Assignment.objects.get().state == AssignmentState.SUBMITTED


def test_the_last_cent_is_spent_once(rita: Any, rita_keys: Any, make_hit: Any) -> None:
    hit, worker = make_hit(rita, Reward="1.00"), some_workers()[0]
    taken = accept(worker, hit["HITId"], clock.now())
    submit(taken, "answer", clock.now())
    clients = [mturk_client(rita_keys) for _ in range(N_THREADS)]
    bonus = {
        "WorkerId": worker.worker_id,
        "AssignmentId": taken.assignment_id,
        "BonusAmount": "9998.00",
        "Reason": "All of it.",
    }
    results = at_once(lambda n: clients[n].send_bonus(**bonus))
    assert sum(isinstance(one, dict) for one in results) == 1
    assert BonusPayment.objects.count() == 1
    assert books_balance(Requester.objects.get(name="Rita"))


def test_one_token_makes_one_hit(rita: Any, rita_keys: Any, make_hit: Any) -> None:
    make_hit(rita)
    clients = [mturk_client(rita_keys) for _ in range(N_THREADS)]
    results = at_once(lambda n: make_hit(clients[n], UniqueRequestToken="once"))
    assert sum("HITId" in one for one in results if isinstance(one, dict)) == 1, results
    assert HIT.objects.count() == 2


def test_tabs_of_one_worker_ask_for_a_qualification_once(rita: Any, ada: Visitor) -> None:
    made = rita.create_qualification_type(
        Name="Writer", Description="d", QualificationTypeStatus="Active", AutoGranted=True
    )
    ask = f"/qualifications/{made['QualificationType']['QualificationTypeId']}/ask/"
    tabs = [Visitor("Ada") for _ in range(N_THREADS)]
    at_once(lambda n: tabs[n].send(ask))
    assert QualificationRequest.objects.count() == 1


def test_many_clicks_of_a_host_make_one_class_code(settings: Any) -> None:
    settings.MARKETPLACE_OPEN_DESK = False
    host, path = DeskVisitor("Ida"), "/desk/invitations/codes/"
    shown = host.html("/desk/invitations/")
    fields = {"label": "Autumn class", "n_seats": "30", "days": "14"}
    at_once(lambda n: host.send(shown, path, **fields))
    assert ClassCode.objects.count() == 1


def test_many_clicks_of_a_requester_make_one_project_and_say_that_it_is_there(
    rita_keys: Any, settings: Any
) -> None:
    settings.MARKETPLACE_OPEN_DESK = False
    desk, path = DeskVisitor("Rita", Requester.objects.get()), "/desk/projects/new/link/"
    shown = desk.html(path)
    fields = {"name": "Mine", "survey_url": "https://survey.example/", "completion_code": "7"}
    results = at_once(lambda n: desk.send(shown, path, **TERMS | fields).status_code)
    assert sorted(results) == [200] + [400] * (N_THREADS - 1)
    assert Project.objects.count() == 1


def test_work_approved_while_two_accounts_become_one_is_all_owed_to_the_open_one(
    rita: Any, rita_keys: Any, make_hit: Any
) -> None:
    kept, second = some_workers()[:2]
    taken = []
    for n in range(1, N_THREADS):
        hit = make_hit(rita, Reward="1.00", RequesterAnnotation=str(n))
        taken.append(accept(second, hit["HITId"], clock.now()))
        submit(taken[-1], "answer", clock.now())
    clients = [mturk_client(rita_keys) for _ in taken]

    def act(n: int) -> Any:
        if n == len(taken):
            return merge(kept, second, clock.now())
        return clients[n].approve_assignment(AssignmentId=taken[n].assignment_id)

    results = at_once(act)
    assert not any(isinstance(one, Exception) for one in results), results
    assert funds.owed_cents(kept) == 100 * len(taken)
    assert set(Assignment.objects.values_list("worker", flat=True)) == {kept.pk}


def test_qualifications_given_while_two_accounts_become_one_are_all_the_open_one_s(
    rita: Any, rita_keys: Any
) -> None:
    kept, second = some_workers()[:2]
    asked = []
    for n in range(1, N_THREADS):
        made = rita.create_qualification_type(
            Name=f"Q{n}", Description="d", QualificationTypeStatus="Active"
        )
        row = QualificationType.objects.get(
            qualification_type_id=made["QualificationType"]["QualificationTypeId"]
        )
        asked.append(row.requests.create(worker=second, submitted_at=clock.now()).request_id)
    clients = [mturk_client(rita_keys) for _ in asked]

    def act(n: int) -> Any:
        if n == len(asked):
            return merge(kept, second, clock.now())
        return clients[n].accept_qualification_request(QualificationRequestId=asked[n])

    results = at_once(act)
    assert not any(isinstance(one, Exception) for one in results), results
    assert kept.grants.count() == kept.qualification_requests.count() == len(asked)


def test_late_work_and_another_hit_of_a_kind_done_once_do_not_both_count(
    rita: Any, make_hit: Any, later: Any
) -> None:
    first, second = (make_hit(rita, Keywords="once", RequesterAnnotation=n) for n in "12")
    worker = some_workers()[0]
    taken = accept(worker, first["HITId"], clock.now())
    later(minutes=61)

    def act(n: int) -> Any:
        if n % 2:
            return accept(worker, second["HITId"], clock.now())
        return submit(Assignment.objects.get(pk=taken.pk), "late", clock.now())

    at_once(act)
    assert Assignment.objects.filter(state__in=LIVE).count() == 1


def test_a_hit_whose_type_is_changed_is_there_for_those_who_wait_for_it(
    rita: Any, rita_keys: Any, make_hit: Any
) -> None:
    hit, other = make_hit(rita), make_hit(rita, Title="Another")["HITTypeId"]
    clients = [mturk_client(rita_keys) for _ in range(N_THREADS)]
    kinds = (hit["HITTypeId"], other)

    def act(n: int) -> None:
        for kind in kinds * 3:
            if n % 2:
                clients[n].update_hit_type_of_hit(HITId=hit["HITId"], HITTypeId=kind)
            else:
                clients[n].update_expiration_for_hit(
                    HITId=hit["HITId"], ExpireAt=clock.now() + timedelta(hours=1)
                )

    assert at_once(act) == [None] * N_THREADS
