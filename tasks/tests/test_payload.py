"""What a page may send: bounded, readable, and kept without what no database can keep."""

import pytest

from tasks.models import Lease
from tasks.tests.visiting import at_work, post

pytestmark = pytest.mark.django_db


def test_what_no_database_can_keep_is_left_out_of_a_draft(client, collection, soon):
    _, state = at_work(client, collection, soon)
    draft = {"data": {"questions": []}, "ui": {"note": "a\x00b\ud83dc"}}
    assert post(client, state, "draft", {"version": 0, "draft": draft}).status_code == 200
    assert Lease.objects.get().draft["ui"] == {"note": "abc"}
    assert post(client, state, "problem", {"message": "\x00"}).status_code == 422


@pytest.mark.parametrize("body", ["[" * 100_000, "{", "\xff", '"' + "x" * 1_100_000 + '"'])
def test_junk_instead_of_json_is_refused_and_the_draft_stays(client, collection, soon, body):
    _, state = at_work(client, collection, soon)
    post(client, state, "draft", {"version": 0, "draft": {"data": {}}})
    for name in ("draft", "submit", "problem"):
        answer = client.post(
            state["urls"][name],
            body,
            content_type="application/json",
            HTTP_AUTHORIZATION=f"Bearer {state['token']}",
        )
        assert answer.status_code in (400, 413)
    assert Lease.objects.get().draft == {"data": {}}
