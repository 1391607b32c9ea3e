"""Accepting, returning, submitting: whose place it is at every moment."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.db import connections

from marketplace import clock
from marketplace.configuration import choose
from marketplace.hits.acceptance import WORKER_LOCK, accept_next
from marketplace.models import Assignment, AssignmentState, HITType
from marketplace.people.accounts import merge
from marketplace.tests.conftest import DATABASES
from marketplace.tests.visitor import Frame, Visitor


def test_a_place_that_was_returned_keeps_its_id_and_loses_its_form(
    rita: Any, ada: Visitor, grace: Visitor, make_hit: Any
) -> None:
    hit = make_hit(rita)
    left_open = ada.accept(hit)
    ada.post(left_open.path, f"{left_open.path}return/")
    hers = grace.accept(hit)
    assert hers.query["assignmentId"] == left_open.query["assignmentId"]
    assert hers.query["entrySignature"] != left_open.query["entrySignature"]

    late = left_open.submit(answer="Ada's")
    assert late.status_code == 409
    assert b"You returned this HIT before" in late.content
    assert "frame-ancestors 'self'" in late["Content-Security-Policy"]
    assert rita.list_assignments_for_hit(HITId=hit["HITId"])["Assignments"] == []

    hers.submit(answer="Grace's")
    [assignment] = rita.list_assignments_for_hit(HITId=hit["HITId"])["Assignments"]
    assert assignment["WorkerId"] == grace.worker.worker_id
    assert "Grace's" in assignment["Answer"]
    assert "Ada" in Assignment.objects.get(state=AssignmentState.RETURNED).late_answer


def test_what_was_returned_is_offered_again_only_while_it_can_be_taken(
    rita: Any, ada: Visitor, grace: Visitor, make_hit: Any
) -> None:
    hit = make_hit(rita)
    path = ada.accept(hit).path
    ada.post(path, f"{path}return/")
    assert "Accept it again" in ada.get(path).content.decode()
    grace.accept(hit)
    page = ada.get(path).content.decode()
    assert "Accept it again" not in page
    assert "It is not available to you now." in page


def test_submitting_twice_is_the_same_as_once(rita: Any, ada: Visitor, make_hit: Any) -> None:
    hit = make_hit(rita)
    frame = ada.submit(hit, answer="first")
    again = frame.submit(answer="second")
    assert again.status_code == 200
    [assignment] = rita.list_assignments_for_hit(HITId=hit["HITId"])["Assignments"]
    assert "first" in assignment["Answer"]


def test_accepting_twice_is_the_same_as_once(rita: Any, ada: Visitor, make_hit: Any) -> None:
    hit = make_hit(rita, MaxAssignments=2)
    first = ada.accept(hit)
    path = f"/hits/{hit['HITId']}/"
    assert Frame(ada.send(f"{path}accept/")).url == first.url
    assert Frame(ada.get(path)).url == first.url
    assert Assignment.objects.count() == 1


def test_accept_pressed_twice_where_the_hit_is_gone_takes_one_other_hit(
    rita: Any, ada: Visitor, grace: Visitor, make_hit: Any
) -> None:
    hits = [make_hit(rita, RequesterAnnotation=str(n)) for n in range(4)]
    look = ada.get(f"/kinds/{hits[0]['HITTypeId']}/").content.decode()
    path = f"/hits/{hits[0]['HITId']}/accept/"
    assert f'action="{path}"' in look
    grace.accept(hits[0])
    first, again = ada.send_from(look, path), ada.send_from(look, path)
    assert first.request["PATH_INFO"] == again.request["PATH_INFO"]
    assert Assignment.objects.filter(worker=ada.worker).count() == 1
    Frame(first).submit(answer="42")
    assert ada.send_from(look, path).status_code == 200
    assert Assignment.objects.filter(worker=ada.worker).count() == 1
    # Looked at once more, it is asked for once more.
    fresh = ada.get(f"/kinds/{hits[0]['HITTypeId']}/").content.decode()
    path = re.findall(r'action="(/hits/\w+/accept/)"', fresh)[0]
    ada.send_from(fresh, path)
    assert Assignment.objects.filter(worker=ada.worker).count() == 2


def test_accepting_from_the_preview_of_a_kind_gives_each_a_place_as_long_as_there_are_places(
    rita: Any, make_hit: Any
) -> None:
    for n in range(3):
        make_hit(rita, RequesterAnnotation=str(n))
    kind = HITType.objects.get()
    people = [Visitor(f"Person {n}") for n in range(4)]
    looks = [visitor.get(f"/kinds/{kind.hit_type_id}/").content.decode() for visitor in people]
    # All look at one HIT, as an example of its kind.
    [path] = {path for look in looks for path in re.findall(r'action="(/hits/\w+/accept/)"', look)}
    pages = [visitor.send_from(look, path) for visitor, look in zip(people, looks, strict=True)]
    assert len({Frame(page).query["hitId"] for page in pages[:3]}) == 3
    assert b"No more of these HITs are available to you just now" in pages[3].content
    # The same press again, of one who saw it taken, is no second HIT of theirs.
    again = people[0].send_from(looks[0], path)
    assert Frame(again).url == Frame(pages[0]).url
    assert Assignment.objects.count() == 3


def test_accepting_a_hit_by_its_own_address_means_that_hit(
    rita: Any, ada: Visitor, grace: Visitor, make_hit: Any
) -> None:
    hit = make_hit(rita, RequesterAnnotation="1")
    make_hit(rita, RequesterAnnotation="2")
    look = grace.get(f"/hits/{hit['HITId']}/").content.decode()
    ada.accept(hit)
    page = grace.send_from(look, f"/hits/{hit['HITId']}/accept/")
    assert b"Somebody else has just taken this HIT" in page.content
    assert Assignment.objects.count() == 1


def test_accepting_and_opening_ask_the_database_little(
    rita: Any, ada: Visitor, make_hit: Any, django_assert_max_num_queries: Any
) -> None:
    database = connections["marketplace"]
    path = f"/hits/{make_hit(rita)['HITId']}/accept/"
    ada.get("/preferences/")
    form = {"csrfmiddlewaretoken": ada.client.cookies[settings.CSRF_COOKIE_NAME].value}
    with django_assert_max_num_queries(12, connection=database):
        page = ada.client.post(path, form)
    with django_assert_max_num_queries(2, connection=database):
        assert ada.client.get(page["Location"]).status_code == 200


def test_what_ran_out_before_it_was_returned_is_said_to_have_run_out(
    rita: Any, ada: Visitor, make_hit: Any, later: Any
) -> None:
    path = ada.accept(make_hit(rita)).path
    later(minutes=61)
    page = ada.send(f"{path}return/").content.decode()
    assert "The time for this HIT ran out" in page
    assert "You returned" not in page


def test_late_work_counts_while_its_place_is_free(
    rita: Any, ada: Visitor, make_hit: Any, later: Any
) -> None:
    hit = make_hit(rita)
    frame = ada.accept(hit)
    later(minutes=65)
    # Its page opens as before: what is in the frame can still be handed in.
    assert Frame(ada.get(frame.path)).url == frame.url
    assert frame.submit(answer="late").status_code == 200
    [assignment] = rita.list_assignments_for_hit(HITId=hit["HITId"])["Assignments"]
    assert assignment["AssignmentStatus"] == "Submitted"


def test_late_work_counts_beside_what_the_same_preview_was_accepted_for_again(
    rita: Any, ada: Visitor, grace: Visitor, make_hit: Any, later: Any
) -> None:
    hits = [make_hit(rita, RequesterAnnotation=str(n)) for n in range(2)]
    look = ada.get(f"/kinds/{hits[0]['HITTypeId']}/").content.decode()
    [path] = re.findall(r'action="(/hits/\w+/accept/)"', look)
    late = Frame(ada.send_from(look, path))
    later(minutes=65)
    hers = grace.accept(hits[0]).path
    again = Frame(ada.send_from(look, path))
    assert again.path != late.path
    grace.post(hers, f"{hers}return/")
    assert late.submit(answer="late").status_code == 200
    mine = Assignment.objects.filter(worker=ada.worker).order_by("pk")
    states = mine.values_list("state", flat=True)
    assert [*states] == [AssignmentState.SUBMITTED, AssignmentState.ACCEPTED]


def test_accounts_that_accepted_in_one_preview_can_be_made_one(
    rita: Any, ada: Visitor, grace: Visitor, make_hit: Any
) -> None:
    for n, visitor in enumerate([ada, grace]):
        make_hit(rita, RequesterAnnotation=str(n))
        accept_next(visitor.worker, HITType.objects.get(), clock.now(), form_key="K")
    merge(ada.worker, grace.worker, clock.now())
    assert Assignment.objects.filter(worker=ada.worker).count() == 2


def test_in_progress_and_history_lead_to_late_work_until_its_hour_is_over(
    rita: Any, ada: Visitor, grace: Visitor, make_hit: Any, later: Any
) -> None:
    taken, kept = make_hit(rita, Title="Taken"), make_hit(rita, Title="Kept")
    lost, frame = ada.accept(taken), ada.accept(kept)
    later(minutes=61)
    grace.accept(taken)
    queue, history = (ada.get(path).content.decode() for path in ("/work/", "/history/"))
    assert "You can still submit it until" in queue
    for page in (queue, history):
        assert f'href="{frame.path}"' in page
        assert f'href="{lost.path}"' not in page
    assert b"ran out" in ada.get(lost.path).content
    later(minutes=60)
    assert "You have nothing in progress" in ada.get("/work/").content.decode()
    assert f'href="{frame.path}"' not in ada.get("/history/").content.decode()
    assert b"ran out" in ada.get(frame.path).content


@pytest.mark.django_db(databases=DATABASES, transaction=True)
def test_late_work_counts_in_a_process_where_nobody_has_accepted_anything_yet(
    rita: Any, ada: Visitor, make_hit: Any, later: Any
) -> None:
    frame = ada.accept(make_hit(rita))
    later(minutes=65)
    # What each process makes of it at its first use.
    del WORKER_LOCK._compiled
    assert frame.submit(answer="late").status_code == 200


def test_late_work_is_kept_when_its_place_is_gone(
    rita: Any, ada: Visitor, grace: Visitor, make_hit: Any, later: Any
) -> None:
    hit = make_hit(rita)
    frame = ada.accept(hit)
    later(minutes=61)
    grace.accept(hit)
    reply = frame.submit(answer="late")
    assert reply.status_code == 409
    assert b"was kept" in reply.content
    assert "late" in Assignment.objects.get(worker=ada.worker).late_answer
    assert "was kept" in ada.get("/history/").content.decode()


def test_a_place_that_late_work_can_take_is_given_last(
    rita: Any, ada: Visitor, grace: Visitor, make_hit: Any, later: Any
) -> None:
    hits = [make_hit(rita, RequesterAnnotation=str(n)) for n in range(3)]
    frame = ada.accept(hits[0])
    later(minutes=61)
    for hit in hits[1:]:
        look = grace.get(f"/kinds/{hit['HITTypeId']}/").content.decode()
        [path] = re.findall(r'action="(/hits/\w+/accept/)"', look)
        assert path == f"/hits/{hit['HITId']}/accept/"
        grace.send_from(look, path)
    assert frame.submit(answer="late").status_code == 200


def test_late_work_does_not_count_after_the_grace(
    rita: Any, ada: Visitor, make_hit: Any, later: Any
) -> None:
    frame = ada.accept(make_hit(rita))
    later(hours=3)
    assert frame.submit(answer="late").status_code == 409


def test_late_work_does_not_count_where_another_hit_of_a_kind_done_once_was_taken_since(
    rita: Any, ada: Visitor, make_hit: Any, later: Any
) -> None:
    first, second = (make_hit(rita, Keywords="once", RequesterAnnotation=n) for n in "12")
    late = ada.accept(first)
    later(minutes=61)
    ada.submit(second)
    reply = late.submit(answer="late")
    assert reply.status_code == 409
    assert b"was kept" in reply.content
    states = Assignment.objects.order_by("pk").values_list("state", flat=True)
    assert list(states) == [AssignmentState.ABANDONED, AssignmentState.SUBMITTED]
    assert "late" in Assignment.objects.earliest("pk").late_answer


def test_who_is_blocked_hands_in_in_time_and_not_in_the_grace_after_it(
    rita: Any, ada: Visitor, make_hit: Any, later: Any
) -> None:
    in_time, late = ada.accept(make_hit(rita)), ada.accept(make_hit(rita))
    rita.create_worker_block(WorkerId=ada.worker.worker_id, Reason="Copied answers.")
    assert in_time.submit(answer="in time").status_code == 200
    later(minutes=61)
    reply = late.submit(answer="late")
    assert reply.status_code == 409
    assert b"was kept" in reply.content
    assert Assignment.objects.get(state=AssignmentState.ABANDONED).late_answer


def test_a_form_of_another_hit_is_refused(rita: Any, ada: Visitor, make_hit: Any) -> None:
    one, two = ada.accept(make_hit(rita)), ada.accept(make_hit(rita))
    reply = one.submit(assignment_id=two.query["assignmentId"], answer="x")
    assert reply.status_code == 400
    assert not Assignment.objects.exclude(state=AssignmentState.ACCEPTED).exists()


def test_a_form_without_an_answer_is_refused(rita: Any, ada: Visitor, make_hit: Any) -> None:
    frame = ada.accept(make_hit(rita))
    reply = frame.submit(turkSubmitTo="y")
    assert reply.status_code == 400
    assert b"no answer in it" in reply.content
    assert frame.submit(answer="").status_code == 200


def test_junk_is_refused_and_loses_nothing(
    rita: Any, ada: Visitor, make_hit: Any, settings: Any
) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 1_000_000
    settings.DATA_UPLOAD_MAX_NUMBER_FIELDS = 100
    frame = ada.accept(make_hit(rita))
    assert frame.submit(answer="x" * 1_100_000).status_code == 413
    assert frame.submit(**{f"f{n}": "x" for n in range(120)}).status_code == 413
    assert frame.submit(answer="\x00" + "y" * 100_000).status_code == 200


def test_a_worker_does_a_hit_once(rita: Any, ada: Visitor, make_hit: Any) -> None:
    hit = make_hit(rita, MaxAssignments=2)
    ada.submit(hit)
    assert b"already done" in ada.send(f"/hits/{hit['HITId']}/accept/").content


def test_a_number_of_thirty_digits_is_no_hit_in_anybody_s_queue(ada: Visitor) -> None:
    for page in ("", "return/", "submitted/", "write/"):
        answered = ada.client.get(f"/work/{'9' * 30}/{page}")
        assert answered.status_code == 404
        assert "There is no such HIT in your queue." in answered.content.decode()


def test_a_submitted_hit_cannot_be_returned(rita: Any, ada: Visitor, make_hit: Any) -> None:
    frame = ada.submit(make_hit(rita))
    assert b"cannot be returned" in ada.send(f"{frame.path}return/").content
    assert b"Submitted" in ada.get(frame.path).content


def test_nobody_holds_more_than_the_limit(
    rita: Any, ada: Visitor, make_hit: Any, settings: Any
) -> None:
    settings.MARKETPLACE_QUEUE_LIMIT = 1
    ada.accept(make_hit(rita))
    path = f"/hits/{make_hit(rita)['HITId']}/"
    assert b"You hold 1 HITs already" in ada.post(path, f"{path}accept/").content


def test_next_takes_another_hit_of_the_kind_and_what_was_returned_last(
    rita: Any, ada: Visitor, make_hit: Any
) -> None:
    hits = [make_hit(rita, RequesterAnnotation=str(n)) for n in range(3)]
    returned = ada.accept(hits[0])
    ada.post(returned.path, f"{returned.path}return/")
    done = ada.submit(hits[1])
    second = Frame(ada.post(f"{done.path}submitted/", f"{done.path}next/"))
    assert second.query["hitId"] == hits[2]["HITId"]
    second.submit(a="1")
    third = Frame(ada.post(f"{second.path}submitted/", f"{second.path}next/", remember="on"))
    assert third.query["hitId"] == hits[0]["HITId"]
    assert ada.worker.accepts_next
    third.submit(a="1")
    assert b"No more HITs like this one" in ada.get(f"{third.path}submitted/").content


def test_the_host_s_cap_counts_for_kinds_of_hits_that_are_older(
    rita: Any, ada: Visitor, make_hit: Any
) -> None:
    make_hit(rita)
    choose("auto_approval_cap_seconds", 3600, clock.now())
    ada.submit(make_hit(rita))
    handed_in = Assignment.objects.get()
    assert handed_in.auto_approval_at - handed_in.submitted_at == timedelta(hours=1)


def test_more_time_is_given_once_and_proven_to_the_task(
    rita: Any, ada: Visitor, make_hit: Any, later: Any
) -> None:
    frame = ada.accept(make_hit(rita, Keywords="extension-minutes:30"))
    path = f"{frame.path}extend/"
    page = ada.post(frame.path, path)
    assert page.status_code == 200
    longer = Frame(page)
    assert int(longer.query["entryExpires"]) - int(frame.query["entryExpires"]) == 1800
    assert longer.query["entrySignature"] != frame.query["entrySignature"]
    assert f'action="{path}"' not in page.content.decode()
    assert "More time can be asked for once" in ada.send(path).content.decode()
    later(minutes=89)
    longer.submit(answer="x")
    assert Assignment.objects.get().state == AssignmentState.SUBMITTED


def test_no_more_time_is_given_where_none_is_stated(rita: Any, ada: Visitor, make_hit: Any) -> None:
    frame = ada.accept(make_hit(rita))
    assert "/extend/" not in ada.get(frame.path).content.decode()
    before = Assignment.objects.get().deadline
    assert "More time can be asked for once" in ada.send(f"{frame.path}extend/").content.decode()
    assert Assignment.objects.get().deadline == before


@pytest.mark.parametrize("path", ["", "return/"])
def test_return_says_what_is_lost_and_what_is_kept(
    rita: Any, ada: Visitor, make_hit: Any, path: str
) -> None:
    plain = ada.accept(make_hit(rita))
    page = ada.get(plain.path + path).content.decode()
    assert "You lose the $4.50 of this HIT" in page
    assert "You keep" not in page
    assert "stays saved" not in page
    words = "bonus-up-to:1.26, keeps-work"
    page = ada.get(ada.accept(make_hit(rita, Title="x", Keywords=words)).path + path)
    assert "You keep what you have earned beside it" in page.content.decode()
    assert "What you have written stays saved" in page.content.decode()
    assert '<button class="button primary">Return' not in page.content.decode()
