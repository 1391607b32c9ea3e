"""What a page costs in queries: few, and as many for ten items and words as for one."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from collector.protocols.loading import get_protocol
from common.tests.row_paths import watch_writes
from tasks.models import Answer, Lease, Question
from tasks.pages import work_page
from tasks.people import lease_context
from tasks.tests.making import (
    NOW,
    consent,
    make_collection,
    make_corpus,
    make_posting,
    make_worker,
    questions_for,
    stage_of,
)
from tasks.tests.visiting import at_work, open_page, post, state_of
from tasks.work import submissions, units
from tasks.work.kinds import voting, writing
from tasks.work.reading import _article_id, _page

pytestmark = pytest.mark.django_db(transaction=True)
BOUNDARIES = ("SAVEPOINT", "RELEASE", "BEGIN", "COMMIT")


@pytest.fixture(params=[1, 10])
def size(request):
    return request.param


@pytest.fixture
def collection(collection, size):
    wanted = {"question__items_per_hit": size, "question__questions_per_hit": size}
    wanted |= {"answer__items_per_hit": size, "question__multi_link_questions": 0}
    return make_collection(make_corpus(60, "other"), slug="other", seeds=3 * size, **wanted)


def statements(captured):
    """Return the statements without the boundaries of transactions and savepoints."""
    found = [query["sql"].strip() for query in captured.captured_queries]
    return [sql for sql in found if not sql.startswith(BOUNDARIES)]


def forget():
    """Forget what a process keeps, as when another one answers."""
    everything = (work_page._items, writing.seeds_of, voting._written, lease_context.words_of)
    for kept in (*everything, _article_id, _page):
        kept.clear()


def answering(client, collection, soon):
    """Return the state of a page on which Grace answers Ada's questions."""
    _, state = at_work(client, collection, soon)
    lease = Lease.objects.get()
    number = len(state["items"])
    submissions.hand_in(lease, questions_for(lease, number=number), NOW, synthetic=False)
    stage = stage_of(collection, "answer")
    units.bundle(stage, get_protocol("iirc").resolved(collection.parameters))
    stage.units.update(closed=True)
    units.create_unit(stage, list(Question.objects.all()), 1)
    grace = make_worker("AGRACE", qualified=(stage_of(collection, "answer_qualification"),))
    consent(grace, collection)
    return state_of(open_page(client, make_posting(stage), "AGRACE", soon))


def answers_for(state):
    """Return an answer by a span of a linked article to every question."""
    title = state["items"][0]["passage"]["links"][0]["title"]
    mark = {"document": title, "start": 0, "end": 5}
    return {
        "answers": [
            {"item": item["id"], "type": "span", "spans": [mark], "context": [mark]}
            for item in state["items"]
        ]
    }


def test_entering_a_hit_takes_nineteen_and_one_more_for_words_that_a_process_has_not_seen(
    client, collection, soon
):
    forget()
    for person, number in (("AADA", 20), ("ABEN", 19)):
        worker = make_worker(person, qualified=(stage_of(collection, "question_qualification"),))
        consent(worker, collection)
        posting = make_posting(stage_of(collection, "question"))
        with CaptureQueriesContext(connection) as captured:
            state = state_of(open_page(client, posting, person, soon))
        assert len(statements(captured)) == number
        again = state_of(open_page(client, posting, person, soon))
        ours = {"server_now", "token"}
        assert {**state, **dict.fromkeys(ours)} == {**again, **dict.fromkeys(ours)}


def test_a_reload_takes_one_and_a_process_that_has_not_seen_the_items_three(
    client, collection, soon
):
    posting, _ = at_work(client, collection, soon)
    with CaptureQueriesContext(connection) as captured:
        state_of(open_page(client, posting, "AADA", soon))
    assert len(statements(captured)) == 1
    forget()
    with CaptureQueriesContext(connection) as captured:
        state_of(open_page(client, posting, "AADA", soon))
    assert len(statements(captured)) == 3


def test_a_draft_takes_two_and_a_look_for_a_newer_one_one(client, collection, soon, size):
    _, state = at_work(client, collection, soon)
    draft = {"data": questions_for(Lease.objects.get(), number=size), "ui": {}}
    with CaptureQueriesContext(connection) as captured:
        saved = post(client, state, "draft", {"version": 0, "draft": draft})
    assert saved.status_code == 200
    assert len(statements(captured)) == 2
    with CaptureQueriesContext(connection) as captured:
        assert post(client, state, "draft", {"version": 1}).json() == {"version": 1}
    assert len(statements(captured)) == 1


def test_a_submission_of_questions_takes_nine(client, collection, soon, size):
    _, state = at_work(client, collection, soon)
    data = questions_for(Lease.objects.get(), number=size)
    with CaptureQueriesContext(connection) as captured:
        assert post(client, state, "submit", {"data": data}).status_code == 200
    assert len(statements(captured)) == 9
    assert Question.objects.count() == size


def test_an_article_takes_one_once_it_was_read(client, collection, soon):
    state = answering(client, collection, soon)
    title = state["items"][0]["passage"]["links"][0]["title"]
    wanted = {"item": state["items"][0]["id"], "title": title}
    assert post(client, state, "article", wanted).json()["title"] == title
    with CaptureQueriesContext(connection) as captured:
        assert post(client, state, "article", wanted).status_code == 200
    assert len(statements(captured)) == 1


def test_answers_marked_in_articles_take_two_as_a_draft_and_ten_as_a_submission(
    client, collection, soon
):
    state = answering(client, collection, soon)
    data = answers_for(state)
    post(client, state, "draft", {"version": 0, "draft": {"data": data}})
    with CaptureQueriesContext(connection) as captured:
        saved = post(client, state, "draft", {"version": 1, "draft": {"data": data}})
    assert saved.json()["problems"] == []
    assert len(statements(captured)) == 2
    with CaptureQueriesContext(connection) as captured:
        assert post(client, state, "submit", {"data": data}).status_code == 200
    assert len(statements(captured)) == 10


def test_an_answer_passes_eight_modules_from_post_to_row(client, collection, soon, monkeypatch):
    state = answering(client, collection, soon)
    ways = watch_writes(monkeypatch, Answer)
    assert post(client, state, "submit", {"data": answers_for(state)}).status_code == 200
    assert len(ways) == 1
    assert len(ways[0]) <= 8, ways
    assert "tasks.pages.api_views" in ways[0]
