"""Nobody enters a HIT's page on their own word, and every refusal says what to do."""

import re
from datetime import timedelta

import pytest
from django.utils import timezone
from django.utils.html import escape

from tasks.models import Grant, Identity, Lease, LeaseState, Question, Session, Submission
from tasks.pages.api_views import MOST_REPORTS
from tasks.people.qualifications import decide
from tasks.tests.making import (
    consent,
    make_posting,
    make_worker,
    questions_for,
    stage_of,
)
from tasks.tests.visiting import at_work, open_page, post, state_of
from tasks.work import leases
from tasks.work.submissions import record_attempt

pytestmark = pytest.mark.django_db


def test_a_preview_shows_the_task_and_stores_nothing(client, collection):
    posting = make_posting(stage_of(collection, "question"))
    page = client.get(f"/hit/?assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE&hitId={posting.external_id}")
    assert state_of(page)["mode"] == "preview"
    assert not Session.objects.exists()
    assert not Identity.objects.exists()


def test_a_preview_has_one_title_and_looks_as_the_page_around_it(client, collection):
    posting = make_posting(stage_of(collection, "question"))
    address = f"/hit/?assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE&hitId={posting.external_id}"
    page = client.get(f"{address}&workerTheme=dark&workerTextSize=huge").content.decode()
    assert 'data-theme="dark" data-text-size="m"' in page
    assert page.count("<h1") == 1


def test_work_looks_as_the_page_around_it_until_somebody_chooses(client, collection, soon):
    posting, state = at_work(client, collection, soon)
    page = open_page(client, posting, "AADA", soon, workerTheme="dark")
    assert 'data-theme="dark"' in page.content.decode()
    post(client, state, "preferences", {"theme": "light"})
    page = open_page(client, posting, "AADA", soon, workerTheme="dark").content.decode()
    assert 'data-theme="light"' in page
    banner = page[page.index("<header") : page.index("</header>")]
    assert "<h1" in banner
    assert page.count("<h1") == 1


def test_the_consent_looks_so_too_and_hands_it_on(client, collection, soon):
    posting = make_posting(stage_of(collection, "question_qualification"))
    page = open_page(client, posting, "AADA", soon, workerTheme="dark").content.decode()
    assert 'data-theme="dark"' in page
    assert page.count("<h1") == 1
    token = re.search(r'name="token" value="([^"]+)"', page)[1]
    assert 'name="workerTheme" value="dark"' in page
    sent = {"token": token, "version": "1", "consent": "agree", "workerTheme": "dark"}
    assert 'data-theme="dark"' in client.post("/hit/consent", sent).content.decode()


def test_no_page_of_the_worker_sets_a_cookie(client, collection, soon):
    posting = make_posting(stage_of(collection, "question_qualification"))
    page = open_page(client, posting, "AADA", soon)
    assert not page.cookies
    assert "frame-ancestors http://127.0.0.1:8000" in page.headers["Content-Security-Policy"]


def test_an_unknown_hit_is_refused(client, collection, soon):
    posting = make_posting(stage_of(collection, "question"))
    posting.external_id = "HUNKNOWN"
    assert open_page(client, posting, "AADA", soon).status_code == 403


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("workerId", "AMALLORY"),
        ("assignmentId", "A2"),
        ("entryExpires", "9999999999"),
        ("entrySignature", "é"),
        ("entrySignature", ""),
    ],
)
def test_an_altered_address_is_refused_and_stores_nothing(client, collection, soon, name, value):
    posting = make_posting(stage_of(collection, "question"))
    page = open_page(client, posting, "AADA", soon, **{name: value})
    assert page.status_code == 403
    assert b"Open the HIT again from the marketplace" in page.content
    assert not Session.objects.exists()


def test_a_copied_signature_is_worthless_after_its_time(client, collection):
    posting = make_posting(stage_of(collection, "question"))
    page = open_page(client, posting, "AADA", timezone.now() - timedelta(seconds=1))
    assert page.status_code == 403
    assert b"What you wrote is kept" in page.content


@pytest.mark.parametrize(
    "address",
    [
        *("http://evil.example/x", "http://[", "http://℀.example/", "", "\0"),
        "http://127.0.0.1:8000/\0",
        "http://127.0.0.1:8000/" + "x" * 500,
    ],
)
def test_a_foreign_address_to_hand_in_to_is_refused(client, collection, soon, address):
    posting = make_posting(stage_of(collection, "question"))
    page = open_page(client, posting, "AADA", soon, turkSubmitTo=address)
    assert page.status_code == 403
    assert b"an address we do not know" in page.content


@pytest.mark.parametrize("identifier", ["A\0", "A" * 201])
def test_ids_that_no_row_can_hold_are_refused_though_signed(client, collection, soon, identifier):
    posting = make_posting(stage_of(collection, "question"))
    for person, assignment in ((identifier, "A1"), ("AADA", identifier)):
        page = open_page(client, posting, person, soon, assignment=assignment)
        assert page.status_code == 403
        assert b"We could not check who you are" in page.content
    assert not Session.objects.exists()


def test_a_form_that_is_too_large_is_answered_with_a_page(client, collection, caplog):
    page = client.post("/hit/consent", {"token": "x" * 11_000_001})
    assert page.status_code == 413
    assert b"Go back and try again with less" in page.content
    assert "frame-ancestors http://127.0.0.1:8000" in page.headers["Content-Security-Policy"]
    assert not [record for record in caplog.records if record.exc_info]


def test_consent_comes_before_the_first_work_and_declining_is_a_clean_end(client, collection, soon):
    posting = make_posting(stage_of(collection, "question_qualification"))
    page = open_page(client, posting, "AADA", soon)
    token = re.search(r'name="token" value="([^"]+)"', page.content.decode())[1]
    form = {"token": token, "version": "1", "consent": "decline"}
    declined = client.post("/hit/consent", form)
    assert b"You decided not to take part" in declined.content
    assert not Lease.objects.exists()
    assert b"You decided not to take part" in open_page(client, posting, "AADA", soon).content


def test_agreeing_leads_to_work_and_is_recorded_on_the_lease(client, collection, soon):
    posting = make_posting(stage_of(collection, "question_qualification"))
    page = open_page(client, posting, "AADA", soon)
    token = re.search(r'name="token" value="([^"]+)"', page.content.decode())[1]
    page = client.post("/hit/consent", {"token": token, "version": "1", "consent": "agree"})
    assert state_of(page)["mode"] == "work"
    assert Lease.objects.get().consent_text.version == 1


def test_a_forged_consent_token_is_refused(client, collection):
    page = client.post("/hit/consent", {"token": "forged", "version": "1", "consent": "agree"})
    assert page.status_code == 403


def test_a_worker_without_the_qualification_is_told_how_to_get_it(client, collection, soon):
    worker = make_worker("AADA")
    consent(worker, collection)
    posting = make_posting(stage_of(collection, "question"))
    page = open_page(client, posting, "AADA", soon)
    assert b"This HIT needs a qualification" in page.content
    assert not Lease.objects.exists()


def test_reloading_resumes_the_same_work_with_its_draft(client, collection, soon):
    posting, state = at_work(client, collection, soon)
    draft = {"data": {"questions": []}, "ui": {"item": "1"}}
    assert post(client, state, "draft", {"version": 0, "draft": draft}).status_code == 200
    again = state_of(open_page(client, posting, "AADA", soon))
    assert again["draft"] == draft
    assert again["draft_version"] == 1
    assert Lease.objects.count() == 1


def test_reloading_after_the_time_ran_out_shows_what_was_written(client, collection, soon):
    posting, state = at_work(client, collection, soon)
    draft = {"data": {"questions": []}, "ui": {"item": "1"}}
    assert post(client, state, "draft", {"version": 0, "draft": draft}).status_code == 200
    leases.end(Lease.objects.get(), LeaseState.EXPIRED, timezone.now())
    again = state_of(open_page(client, posting, "AADA", soon))
    assert again["draft"] == draft
    assert Lease.objects.get().state == LeaseState.EXPIRED
    # Paid for as saved, it cannot be handed in any more.
    Lease.objects.update(paid=True)
    assert state_of(open_page(client, posting, "AADA", soon))["draft"] is None


def test_a_second_tab_is_told_and_shown_the_newer_text(client, collection, soon):
    _, state = at_work(client, collection, soon)
    newer = {"data": {"questions": []}, "ui": {}}
    post(client, state, "draft", {"version": 0, "draft": newer})
    stale = post(client, state, "draft", {"version": 0, "draft": {"data": {}}})
    assert stale.status_code == 409
    assert stale.json()["draft"] == newer


def test_submitting_gives_the_receipt_to_hand_back_and_twice_gives_the_same(
    client, collection, soon
):
    _, state = at_work(client, collection, soon)
    data = questions_for(Lease.objects.get())
    first, second = (post(client, state, "submit", {"data": data}) for _ in range(2))
    assert first.status_code == 200
    assert first.json() == second.json()
    form = first.json()["form"]
    assert form["action"] == "http://127.0.0.1:8000/accepted/secret/mturk/externalSubmit"
    assert form["fields"]["assignmentId"] == "A1"
    assert form["fields"]["receipt"] == Submission.objects.get().receipt
    assert Question.objects.count() == 2


def test_a_refused_submission_names_every_problem_and_keeps_the_draft(client, collection, soon):
    _, state = at_work(client, collection, soon)
    post(client, state, "draft", {"version": 0, "draft": {"data": {"questions": []}}})
    refused = post(client, state, "submit", {"data": {"questions": []}})
    assert refused.status_code == 422
    assert refused.json()["problems"]
    assert Lease.objects.get().draft == {"data": {"questions": []}}


def test_after_submitting_the_page_offers_the_receipt_again(client, collection, soon):
    posting, state = at_work(client, collection, soon)
    post(client, state, "submit", {"data": questions_for(Lease.objects.get())})
    page = open_page(client, posting, "AADA", soon)
    assert b"Your work is saved" in page.content
    assert Submission.objects.get().receipt.encode() in page.content


def test_what_was_sent_can_be_read_again_until_its_worker_is_erased(client, collection, soon):
    _, state = at_work(client, collection, soon)
    form = post(client, state, "submit", {"data": questions_for(Lease.objects.get())}).json()[
        "form"
    ]
    address = form["fields"]["work"]
    assert address.startswith("http://localhost:8000/hit/sent/")
    page = client.get(address).content.decode()
    for question in Question.objects.all():
        assert escape(question.text) in page
        assert escape(question.payload["context"][0]["text"]) in page
    assert client.get("/hit/sent/nothing/").status_code == 404
    Identity.objects.all().delete()
    assert client.get(address).status_code == 404


def test_whoever_is_declined_reads_why_with_what_they_sent(client, collection, soon):
    _, state = at_work(client, collection, soon)
    post(client, state, "submit", {"data": questions_for(Lease.objects.get())})
    submission = Submission.objects.get()
    record_attempt(submission)
    address = f"/hit/sent/{submission.receipt}/"
    assert "You have" not in client.get(address).content.decode()
    grant = Grant.objects.get(qualification__stage=submission.lease.unit.stage)
    said = {"by": "Rita", "now": submission.received_at}
    decide(grant, granted=False, note="Ask about the links.", **said)
    page = client.get(address).content.decode()
    assert "You have not passed." in page
    assert "Ask about the links." in page
    decide(grant, granted=True, note="", **said)
    assert "You have passed" in client.get(address).content.decode()
    decide(grant, granted=True, note="", is_let_in=True, **said)
    assert "You have been let in" in client.get(address).content.decode()


@pytest.mark.parametrize("token", ["", "forged", "WzEsIndhIl0:x:y"])
def test_a_forged_token_is_refused(client, collection, soon, token):
    _, state = at_work(client, collection, soon)
    answer = post(client, {**state, "token": token}, "draft", {"version": 0, "draft": {}})
    assert answer.status_code == 401
    assert "what you wrote is kept" in answer.json()["detail"]


def test_an_expired_lease_still_saves_and_can_be_handed_in(client, collection, soon):
    _, state = at_work(client, collection, soon)
    lease = Lease.objects.get()
    Lease.objects.update(state=LeaseState.EXPIRED)
    lease.unit.taken = 0
    lease.unit.save()
    draft = {"data": questions_for(lease)}
    assert post(client, state, "draft", {"version": 0, "draft": draft}).status_code == 200
    assert post(client, state, "submit", {"data": draft["data"]}).status_code == 200
    assert Submission.objects.get().counts


def test_the_next_person_on_a_hit_ends_the_lease_of_who_returned_it(client, collection, soon):
    posting, _ = at_work(client, collection, soon)
    worker = make_worker("AGRACE", qualified=(stage_of(collection, "question_qualification"),))
    consent(worker, collection)
    open_page(client, posting, "AGRACE", soon)
    states = dict(Lease.objects.values_list("worker__identity__person", "state"))
    assert states == {"AADA": LeaseState.RETURNED, "AGRACE": LeaseState.LIVE}


def test_who_returned_a_hit_goes_on_with_their_draft_on_another_one(
    client, collection, soon, fake_marketplace
):
    posting, state = at_work(client, collection, soon)
    post(client, state, "draft", {"version": 0, "draft": {"data": {"questions": []}, "mine": 1}})
    fake_marketplace.pending[posting.external_id] = 0
    other = make_posting(stage_of(collection, "question"))
    again = state_of(open_page(client, other, "AADA", soon))
    assert again["draft"]["mine"] == 1
    assert [item["text"] for item in again["items"]] == [item["text"] for item in state["items"]]
    assert list(Lease.objects.values_list("state", flat=True)) == ["returned", "live"]


def test_who_holds_two_hits_keeps_both(client, collection, soon, fake_marketplace):
    posting, _ = at_work(client, collection, soon)
    fake_marketplace.pending[posting.external_id] = 1
    open_page(client, make_posting(stage_of(collection, "question")), "AADA", soon)
    assert not Lease.objects.filter(state=LeaseState.RETURNED).exists()


def test_who_returned_a_hit_cannot_take_it_back_from_the_next_person(client, collection, soon):
    posting, _ = at_work(client, collection, soon)
    worker = make_worker("AGRACE", qualified=(stage_of(collection, "question_qualification"),))
    consent(worker, collection)
    open_page(client, posting, "AGRACE", soon + timedelta(minutes=5))
    page = open_page(client, posting, "AADA", soon)
    assert page.status_code == 403
    assert b"You have returned this HIT" in page.content
    assert Lease.objects.get(state=LeaseState.LIVE).worker == worker


def test_a_consent_form_is_worthless_once_its_stay_is_over(client, collection, soon):
    posting = make_posting(stage_of(collection, "question_qualification"))
    page = open_page(client, posting, "AADA", soon)
    token = re.search(r'name="token" value="([^"]+)"', page.content.decode())[1]
    Session.objects.update(signed_until=timezone.now() - timedelta(days=3))
    page = client.post("/hit/consent", {"token": token, "version": "1", "consent": "agree"})
    assert page.status_code == 403
    assert not Lease.objects.exists()


def test_a_hit_id_of_junk_is_unknown(client, collection):
    assert client.get("/hit/?hitId=%00'").status_code == 403


def test_a_question_writer_is_never_sent_a_linked_article(client, collection, soon):
    _, state = at_work(client, collection, soon)
    title = state["items"][0]["links"][0]["title"]
    answer = post(client, state, "article", {"item": "0", "title": title})
    assert answer.status_code == 404
    assert "houses" not in answer.content.decode()


def test_a_problem_can_be_reported_and_an_empty_report_is_refused(client, collection, soon):
    _, state = at_work(client, collection, soon)
    assert post(client, state, "problem", {"message": " "}).status_code == 422
    assert post(client, state, "problem", {"message": "The link is wrong."}).status_code == 200
    assert Lease.objects.get().problem_reports.get().message == "The link is wrong."
    for number in range(MOST_REPORTS - 1):
        assert post(client, state, "problem", {"message": f"{number}"}).status_code == 200
    more = post(client, state, "problem", {"message": "And another thing."})
    assert (more.status_code, "often enough" in more.json()["message"]) == (429, True)
    assert Lease.objects.get().problem_reports.count() == MOST_REPORTS


def test_a_report_whose_answer_was_lost_is_sent_again_and_stays_one(client, collection, soon):
    _, state = at_work(client, collection, soon)
    for _ in range(2):
        assert post(client, state, "problem", {"message": "The link is wrong."}).status_code == 200
    assert Lease.objects.get().problem_reports.count() == 1


def test_preferences_are_kept_for_the_next_hit_and_unknown_ones_are_not(client, collection, soon):
    _, state = at_work(client, collection, soon)
    post(client, state, "preferences", {"theme": "dark", "synthetic": True, "sounds": "yes"})
    worker = Lease.objects.get().worker
    assert worker.preferences == {"theme": "dark"}
    assert worker.synthetic is False
