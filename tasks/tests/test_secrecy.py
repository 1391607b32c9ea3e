"""A question writer is sent no word of the articles behind the links, whatever they ask for."""

import html
import json

import pytest

from collector.ingest.ingestion import CorpusOptions, ingest_files
from collector.serving.sample import FOLDER, read_plan
from tasks.models import Lease
from tasks.pages.work_page import URLS
from tasks.tests.making import (
    consent,
    entry_query,
    make_collection,
    make_posting,
    make_worker,
    questions_for,
    stage_of,
)
from tasks.tests.visiting import open_page, state_of
from tasks.work.passages import find_article
from tasks.work.reading import article_text

pytestmark = pytest.mark.django_db
# So many characters in a row are nobody's by chance.
RUN = 24


@pytest.fixture
def collection(collection):
    path = FOLDER / read_plan()["corpus"]["files"][0]
    return make_collection(ingest_files([path], CorpusOptions(slug="sample")), slug="secret")


@pytest.fixture
def replies(monkeypatch, client):
    """Return a list to which every reply to the client is added, as (status, bytes)."""
    kept = []
    request = client.request

    def keeping(**asked):
        reply = request(**asked)
        kept.append((reply.status_code, reply.content))
        return reply

    monkeypatch.setattr(client, "request", keeping)
    return kept


def runs(texts):
    """Return every run of characters in the texts."""
    return {text[at : at + RUN] for text in texts for at in range(len(text) - RUN + 1)}


def secrets_of(collection, state):
    """Return what only the articles say that the page's passages link to by their titles."""
    shown = [item[told] for item in state["items"] for told in ("text", "title")]
    titles = {link["title"] for item in state["items"] for link in item["links"]}
    linked = [article for title in titles if (article := find_article(collection.corpus, title))]
    assert len(linked) >= 3
    return runs(article_text(article).text for article in linked) - runs([*shown, *titles])


def forms_of(content):
    """Return a reply as its bytes say it, and with what stands for characters resolved."""
    plain = content.decode()
    return plain, html.unescape(plain), plain.encode().decode("unicode_escape", "ignore")


def ask_everything(client, collection, state, posting, soon):
    """Send every request that a writer's page, or one who edits it, could send."""
    valid = questions_for(Lease.objects.get())
    titles = sorted({link["title"] for item in state["items"] for link in item["links"]})
    asked = [{"item": item["id"], "title": title} for item in state["items"] for title in titles]
    asked += [{"item": "0", "title": state["items"][0]["title"]}, {"title": titles[0]}]
    curious = json.loads(json.dumps(valid))
    curious["questions"][0]["context"] = [{"document": titles[0], "start": 0, "end": 90}]
    curious["answers"] = [
        {"item": "0", "type": "span", "spans": [{"document": titles[0], "start": 0, "end": 90}]}
    ]
    bodies = [
        *asked,
        {"version": 0, "draft": {"data": curious}},
        {"version": 1},
        {"version": 0, "draft": {"data": curious}},
        {"version": 9},
        {"message": titles[0]},
        {"theme": "dark"},
        {"data": curious},
    ]
    for name in (*URLS, "article"):
        for body in bodies:
            send(client, name, state["token"], body)
    open_page(client, posting, "AADA", soon)
    send(client, "submit", state["token"], {"data": valid})
    for body in asked:
        send(client, "article", state["token"], body)
    open_page(client, posting, "AADA", soon)


def send(client, name, token, body):
    return client.post(
        f"/hit/{name}",
        json.dumps(body),
        content_type="application/json",
        HTTP_AUTHORIZATION=f"Bearer {token}",
    )


def test_no_byte_sent_to_a_question_writer_is_of_a_linked_article(
    client, collection, soon, replies
):
    posting = make_posting(stage_of(collection, "question"))
    ada = make_worker("AADA", qualified=(stage_of(collection, "question_qualification"),))
    client.get(f"/hit/?{entry_query(posting, '', expires=soon)}")
    open_page(client, posting, "AADA", soon)
    consent(ada, collection)
    state = state_of(open_page(client, posting, "AADA", soon))
    secrets = secrets_of(collection, state)
    ask_everything(client, collection, state, posting, soon)
    assert {200, 404, 422} <= {status for status, _ in replies}
    sent = runs(form for _, content in replies for form in forms_of(content))
    # What is searched for would be found: the passage's own words are.
    assert runs(item["text"] for item in state["items"]) & sent
    assert sent & secrets == set()
