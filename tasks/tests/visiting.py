"""Opens a HIT's page as a marketplace's frame does, and calls what the page calls."""

import json
import re

from tasks.tests.making import consent, entry_query, make_posting, make_worker, stage_of


def open_page(client, posting, person, expires, **changed):
    query = entry_query(posting, person, expires=expires, **changed)
    return client.get(f"/hit/?{query}")


def state_of(page):
    found = re.search(
        r'id="page-state" type="application/json">(.*?)</script>', page.content.decode()
    )
    assert found, page.content.decode()[:2000]
    return json.loads(found[1])


def post(client, state, name, body):
    return client.post(
        state["urls"][name],
        json.dumps(body),
        content_type="application/json",
        HTTP_AUTHORIZATION=f"Bearer {state['token']}",
    )


def at_work(client, collection, soon, person="AADA", stage_name="question"):
    stage = stage_of(collection, stage_name)
    qualification = stage_of(collection, "question_qualification")
    worker = make_worker(person, qualified=(qualification,))
    consent(worker, collection)
    posting = make_posting(stage)
    return posting, state_of(open_page(client, posting, person, soon))
