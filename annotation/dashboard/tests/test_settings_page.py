"""Tests of the page that changes pay and places."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.dashboard.collections.parameter_form import label_of, parsed_value, readable_value
from annotation.dashboard.tests.making import make_lease, make_submission
from collector.models import Collection, CollectionState
from collector.protocols.creation import newest, parameters_of, revise
from tasks.crowd import marketplace
from tasks.dialog.tests.making import make_dialogs
from tasks.ledger.pay_terms import hours_of
from tasks.models import Lease, Posting, Submission
from tasks.paying import reconcile
from tasks.tests.making import make_collection, make_posting, stage_of

pytestmark = pytest.mark.django_db
HIDDEN = re.compile(r'<input type="hidden" name="(seen|previewed)" value="([^"]*)"')


@pytest.fixture
def pilot(rita: Client) -> Collection:
    """Return a published collection."""
    return make_collection(slug="pilot")


def post(rita: Client, *, seen: str = "0", **fields: str) -> Any:
    """Return the reply to a sent form; `fields` use __ for the dot."""
    typed = {name.replace("__", "."): value for name, value in fields.items()}
    return rita.post("/collections/pilot/change/", {"seen": seen, **typed})


def hidden(reply: Any) -> dict[str, str]:
    """Return what the page carries along for the next step."""
    found = dict(HIDDEN.findall(reply.content.decode()))
    return {name: value.replace("&quot;", '"') for name, value in found.items()}


def reward(collection: Collection) -> int:
    """Return what a question HIT pays from now on."""
    collection.refresh_from_db()
    return parameters_of(collection).stages()["question"].reward_cents


def test_a_change_is_shown_with_its_cost_then_saved_with_a_reason(
    rita: Client, pilot: Collection
) -> None:
    make_posting(stage_of(pilot, "question"))
    shown = post(rita, question__reward_cents="5.50")
    page = shown.content.decode()
    assert "Question: pay of a HIT: <s>$4.00</s> → <b>$5.50</b>" in page
    assert "Question: 1 HIT is up already and stays as it is." in page
    assert "Maximum total" in page
    assert reward(pilot) == 400
    saved = post(
        rita, question__reward_cents="5.50", save="yes", why="Too little.", **hidden(shown)
    )
    assert saved.status_code == 302
    assert reward(pilot) == 550
    page = rita.get("/collections/pilot/change/").content.decode()
    assert "It holds for everything posted from now on." in page
    assert '<p dir="auto">Too little.</p>' in page
    overview = rita.get("/collections/pilot/").content.decode()
    assert "owner changed Question: pay of a HIT: $5.50." in overview


def test_work_that_was_begun_keeps_the_hours_until_it_is_paid(
    rita: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    pilot, approved = make_collection(slug="pilot", pay__approve_after_hours=48), []
    monkeypatch.setattr(marketplace, "approve", approved.append)
    monkeypatch.setattr(marketplace, "finish_hit", lambda hit_id: None)
    begun = make_lease(stage_of(pilot, "answer"), state="live")
    waits = make_submission(stage_of(pilot, "question"))
    now = timezone.now()
    Submission.objects.update(state="confirmed", confirmed_at=now)
    shown = post(rita, pay__approve_after_hours="0")
    told = "2 HITs that are begun or handed in keep the hours that held when they were begun."
    assert told in shown.content.decode()
    saved = post(rita, pay__approve_after_hours="0", save="yes", why="In time.", **hidden(shown))
    assert saved.status_code == 302
    pilot.refresh_from_db()
    later = make_submission(stage_of(pilot, "question_qualification"))
    Submission.objects.filter(pk=later.pk).update(state="confirmed", confirmed_at=now)
    assert reconcile.approve_confirmed(pilot, now) == 1
    assert approved == [later.session.session_id]
    page = rita.get(f"/collections/pilot/money/work/{waits.session.pk}/").content.decode()
    assert f"Paid by itself on {now + timedelta(hours=48):%-d %B, %H:%M}" in page
    assert reconcile.approve_confirmed(pilot, now + timedelta(hours=47)) == 0
    assert reconcile.approve_confirmed(pilot, now + timedelta(hours=49)) == 1
    assert begun.taken_at < now


def test_what_the_list_of_hits_said_holds_also_for_work_begun_later(
    rita: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    pilot, approved = make_collection(slug="pilot", pay__approve_after_hours=0), []
    monkeypatch.setattr(marketplace, "approve", approved.append)
    monkeypatch.setattr(marketplace, "finish_hit", lambda hit_id: None)
    posted, shown = timezone.now(), post(rita, pay__approve_after_hours="48")
    post(rita, pay__approve_after_hours="48", save="yes", why="To read it.", **hidden(shown))
    pilot.refresh_from_db()
    early, late = (make_submission(stage_of(pilot, "question")) for _ in range(2))
    now = timezone.now()
    Lease.objects.update(taken_at=now)
    for work, at in ((early, posted), (late, now)):
        Posting.objects.filter(pk=work.session.posting_id).update(created_at=at)
    Submission.objects.update(state="confirmed", confirmed_at=now)
    parameters = parameters_of(pilot)
    hours = [hours_of(Lease.objects.get(pk=work.lease_id), parameters) for work in (early, late)]
    assert hours == [0, 48]
    assert reconcile.approve_confirmed(pilot, now) == 1
    assert approved == [early.session.session_id]


def test_a_change_made_after_looking_is_looked_at_again(rita: Client, pilot: Collection) -> None:
    seen = hidden(post(rita, question__reward_cents="5.50"))
    reply = post(rita, question__reward_cents="9", save="yes", why="Hm.", **seen)
    assert reply.status_code == 400
    assert "update it, then save" in reply.content.decode()
    assert "<b>$9.00</b>" in reply.content.decode()
    assert reward(pilot) == 400


def test_a_change_without_a_reason_keeps_what_was_typed(rita: Client, pilot: Collection) -> None:
    seen = hidden(post(rita, question__reward_cents="5.50"))
    reply = post(rita, question__reward_cents="5.50", save="yes", why=" ", **seen)
    assert reply.status_code == 400
    assert "Say why" in reply.content.decode()
    assert 'value="5.50"' in reply.content.decode()
    assert reward(pilot) == 400


def test_a_form_whose_answer_was_lost_is_sent_again(rita: Client, pilot: Collection) -> None:
    seen = hidden(post(rita, question__reward_cents="5.50"))
    for _ in range(2):
        sent = post(rita, question__reward_cents="5.50", save="yes", why="Too little.", **seen)
        assert sent.status_code == 302
    assert reward(pilot) == 550
    assert pilot.revisions.count() == 1
    for changed in ({"why": "Hm."}, {"previewed": "[]"}, {"seen": "x"}, {"seen": "9" * 30}):
        fields = {"save": "yes", "why": "Too little.", **seen, **changed}
        assert post(rita, question__reward_cents="5.50", **fields).status_code == 400


def test_what_somebody_else_saved_meanwhile_is_told(rita: Client, pilot: Collection) -> None:
    seen = hidden(post(rita, question__reward_cents="5.50"))
    wanted = {"answer.reward_cents": 350}
    revise(pilot, wanted, why="Hm.", by="grace", now=timezone.now())
    reply = post(rita, question__reward_cents="5.50", save="yes", why="Hm.", **seen)
    assert "Somebody changed something meanwhile" in reply.content.decode()
    assert hidden(reply)["seen"] == str(newest(pilot))
    assert reward(pilot) == 400
    again = post(rita, question__reward_cents="5.50", save="yes", why="Hm.", **hidden(reply))
    assert again.status_code == 302
    pilot.refresh_from_db()
    assert parameters_of(pilot).stages()["answer"].reward_cents == 350


@pytest.mark.parametrize(
    ("key", "typed", "sentence"),
    [
        ("question.reward_cents", "much", "Write an amount, such as 4 or 4.50."),
        ("question.places_at_once", "1.5", "Write a whole number, such as 20."),
        ("question.places_at_once", "0", "Question: HITs open at a time: Input should be greater"),
        ("question.title", "", "Question: title: String should have at least 1"),
        ("question.title", "x" * 200, "Question: title: String should have at most 128"),
    ],
)
def test_a_value_that_cannot_be_is_said_and_kept(
    rita: Client, pilot: Collection, key: str, typed: str, sentence: str
) -> None:
    reply = post(rita, **{key: typed})
    assert reply.status_code == 400
    assert sentence in reply.content.decode()
    assert f'value="{typed}"' in reply.content.decode()


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        (
            {"question.redundancy.percent": "10"},
            "Question: redundancy: give both percent and people, or neither",
        ),
        (
            {"question.multi_link_questions": "9"},
            "Question: multi link questions (9) must not be more than questions per HIT, 2: lower",
        ),
        (
            {"checks.min_question_words": "99", "question.multi_link_questions": "9"},
            "Checks: 10 times min question words (990) must not be more than max question "
            "characters, 400: lower it",
        ),
        (
            {"question_qualification.redundancy.percent": "10"},
            "Question qualification: redundancy: give both percent",
        ),
    ],
)
def test_what_does_not_fit_together_is_said_by_the_page_s_own_names(
    rita: Client, pilot: Collection, typed: dict[str, str], sentence: str
) -> None:
    Collection.objects.update(state=CollectionState.DRAFT)
    (told,) = re.findall(r'role="alert">(.*?)</p>', post(rita, **typed).content.decode())
    assert sentence in told
    assert "_" not in told


def test_nothing_typed_is_nothing_to_change(rita: Client, pilot: Collection) -> None:
    assert "Nothing would change" in post(rita).content.decode()


def test_what_decides_the_data_is_shown_locked_and_not_taken_from_a_form(
    rita: Client, pilot: Collection
) -> None:
    page = rita.get("/collections/pilot/change/").content.decode()
    assert "locked since the first publication" in page
    assert 'name="question.items_per_hit"' not in page
    assert "Nothing would change" in post(rita, question__items_per_hit="5").content.decode()


def test_a_draft_may_change_everything_and_is_told_of_its_seeds(
    rita: Client, pilot: Collection
) -> None:
    Collection.objects.update(state=CollectionState.DRAFT)
    shown = post(rita, question__items_per_hit="1", agreement__min_agreeing="1")
    page = shown.content.decode()
    assert "Question: items per HIT: <s>2</s> → <b>1</b>" in page
    assert "seeds chosen under the old values are let go" in page
    assert 'name="question.kind"' not in page


def test_a_list_is_written_one_a_line(rita: Client) -> None:
    collection = make_dialogs(2, slug="talks")
    Collection.objects.update(state=CollectionState.DRAFT)
    page = rita.get("/collections/talks/change/").content.decode()
    assert 'id="seeds.category_keywords"' in page
    assert "\nculture\nanimal\n" in page
    where = {
        "seeds.category_keywords": "music\r\n\r\n art  and craft ",
        "dialog.turn_cents": "0.05",
    }
    changed = rita.post("/collections/talks/change/", where).content.decode()
    assert "→ <b>music, art and craft</b>" in changed
    assert "→ <b>$0.05</b>" in changed
    emptied = rita.post("/collections/talks/change/", {"seeds.category_keywords": ""})
    assert "→ <b>none</b>" in emptied.content.decode()
    parameters = parameters_of(collection)
    wrong = rita.post("/collections/talks/change/", {"dialog.turn_cents": "0.05\r\nmuch"})
    assert "Write an amount" in wrong.content.decode()
    assert parsed_value("seeds.person_titles", "Ada\nGrace", [], parameters) == ["Ada", "Grace"]


def test_a_value_that_disappoints_is_cautioned_before_it_is_saved(
    rita: Client, pilot: Collection
) -> None:
    Collection.objects.update(state=CollectionState.DRAFT)
    page = post(rita, seeds__min_links_in_corpus="0").content.decode()
    assert "A seed may have no link to an article of the corpus" in page
    assert "Set min links in corpus to 2 or more." in page
    assert "links that lead nowhere" not in post(rita, seeds__min_links="3").content.decode()


def test_an_unknown_collection_has_no_such_page(rita: Client) -> None:
    assert rita.get("/collections/nothing/change/").status_code == 404


def test_the_page_asks_no_more_with_many_hits_and_changes(rita: Client, pilot: Collection) -> None:
    def queries() -> int:
        with CaptureQueriesContext(
            connection,
        ) as found:
            post(rita, question__reward_cents="7")
        return len(found)

    before = queries()
    for number in range(1, 6):
        make_posting(stage_of(pilot, "question"))
        wanted = {"question.reward_cents": 400 + number}
        pilot.refresh_from_db()
        revise(pilot, wanted, why="Hm.", by="rita", now=timezone.now())
    assert queries() == before


def test_values_are_read_and_written_as_people_do(pilot: Collection) -> None:
    parameters = parameters_of(pilot)
    assert label_of("answer.places_at_once") == "Answer: HITs open at a time"
    assert readable_value("pay.floor_cents_per_hour", 900, parameters) == "$9.00"
    assert readable_value("question.qualifies", True, parameters) == "yes"
    assert parsed_value("question.qualifies", "no", True, parameters) is False
    assert parsed_value("pay.approve_after_hours", "1.5", 0.0, parameters) == 1.5
    with pytest.raises(ValueError, match="yes or no"):
        parsed_value("question.qualifies", "maybe", True, parameters)
    with pytest.raises(ValueError, match="Write a number"):
        parsed_value("pay.approve_after_hours", "soon", 0.0, parameters)
