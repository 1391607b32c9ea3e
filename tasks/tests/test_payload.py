"""What a page may send: bounded, readable, and kept without what no database can keep."""

import pytest

from tasks.models import Lease
from tasks.tests.visiting import at_work, post

pytestmark = pytest.mark.django_db
DEEP = '{"data": ' + "[" * 500 + "]" * 500 + "}"


def test_what_no_database_can_keep_is_left_out_of_a_draft(client, collection, soon):
    _, state = at_work(client, collection, soon)
    draft = {"data": {"questions": []}, "ui": {"note": "a\x00b\ud83dc"}}
    assert post(client, state, "draft", {"version": 0, "draft": draft}).status_code == 200
    assert Lease.objects.get().draft["ui"] == {"note": "abc"}
    assert post(client, state, "problem", {"message": "\x00"}).status_code == 422


@pytest.mark.parametrize("version", [True, False, None, "0", 0.0, 1.5, -1, 2**31, [0], {}])
def test_a_version_is_a_number_of_versions(client, collection, soon, version):
    _, state = at_work(client, collection, soon)
    for body in ({"version": version}, {"version": version, "draft": {"data": {}}}):
        assert post(client, state, "draft", body).status_code == 400
    assert Lease.objects.get().draft is None


@pytest.mark.parametrize(
    "draft", ['{"ui": "\\b", "data": 1e400}', '{"data": 1e400}', '{"data": NaN}', DEEP]
)
def test_what_no_number_is_and_no_page_nests_is_refused(client, collection, soon, draft):
    _, state = at_work(client, collection, soon)
    answer = client.post(
        state["urls"]["draft"],
        f'{{"version": 0, "draft": {draft}}}',
        content_type="application/json",
        HTTP_AUTHORIZATION=f"Bearer {state['token']}",
    )
    assert answer.status_code == 400
    assert Lease.objects.get().draft is None


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


def test_a_call_is_json_by_post_and_says_so(client, collection, soon):
    _, state = at_work(client, collection, soon)
    address, bearer = state["urls"]["draft"], {"Authorization": f"Bearer {state['token']}"}
    read = client.get(address, headers=bearer)
    assert (read.status_code, read["Allow"]) == (405, "POST")
    form = client.post(address, {"version": "0"}, headers=bearer)
    assert form.status_code == 415
    assert "multipart/form-data" in form.json()["detail"]
    nobody = client.post(address, {"version": 0}, content_type="application/json")
    assert (nobody.status_code, nobody["WWW-Authenticate"]) == (401, "Bearer")
    assert client.post(address, content_type="application/json", headers=bearer).status_code == 400


def test_an_address_of_sent_work_that_no_row_can_have_leads_nowhere(client, db):
    assert client.get("/hit/sent/a%00b/").status_code == 404
