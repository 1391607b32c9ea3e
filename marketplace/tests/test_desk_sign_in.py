"""Coming to the desk: by password, unasked on one's own machine, and nobody else."""

import io
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import RequestFactory

from marketplace import clock
from marketplace.desk.users import UserError, close_user, open_user
from marketplace.models import AuditEntry, DeskSession, DeskUser, Requester, Role
from marketplace.people.accounts import RequesterKeys
from marketplace.tests.desk import PASSWORD, DeskVisitor, desk_client
from marketplace.web.desk_pages import COOKIE
from marketplace.web.sign_in_limits import LINKS_PER_ADDRESS, try_name


@pytest.fixture(autouse=True)
def _closed(settings: Any) -> None:
    settings.MARKETPLACE_OPEN_DESK = False


def test_a_stranger_is_asked_who_they_are_and_comes_back() -> None:
    client = desk_client()
    response = client.get("/desk/audit/")
    assert response.status_code == 302
    assert response["Location"] == "/desk/sign-in/?next=%2Fdesk%2Faudit%2F"
    assert "create_host" in client.get(response["Location"]).content.decode()


def test_a_host_signs_in_and_out() -> None:
    grace = DeskVisitor("Grace")
    cookie = grace.client.cookies[COOKIE]
    assert (cookie["path"], cookie["samesite"]) == ("/desk/", "Lax")
    assert cookie["httponly"]
    assert cookie.value not in DeskSession.objects.get().token_digest
    assert "Requesters" in grace.html("/desk/")
    grace.post("/desk/audit/", "/desk/sign-out/")
    assert not DeskSession.objects.exists()
    assert "Sign in" in grace.html("/desk/audit/")


def test_the_wrong_password_is_refused_and_then_slow() -> None:
    grace = DeskVisitor("Grace")
    other = DeskVisitor("Ida")
    for _ in range(5):
        page = grace.post("/desk/sign-in/", "/desk/sign-in/", name="Grace", password="guess")
        assert page.status_code == 403
        assert "do not belong together" in page.content.decode()
    page = grace.post("/desk/sign-in/", "/desk/sign-in/", name="Grace", password=PASSWORD)
    assert page.status_code == 429
    page = other.post("/desk/sign-in/", "/desk/sign-in/", name="Ida", password=PASSWORD)
    assert page.status_code == 200


def test_however_a_desk_s_name_is_written_its_guesses_are_counted_together() -> None:
    grace = DeskVisitor("Grace")
    spellings = ["Grace", " Grace", "Grace\t", "\u3000Grace", "\xa0Grace ", "Grace\n", " Grace "]
    statuses = [
        grace.post("/desk/sign-in/", "/desk/sign-in/", name=each, password="guess").status_code
        for each in spellings
    ]
    assert statuses == [*[403] * 5, 429, 429]


def test_wrong_links_and_other_names_keep_nobody_out_of_the_desk(settings: Any) -> None:
    grace = DeskVisitor("Grace")
    for _ in range(int(LINKS_PER_ADDRESS.at_once)):
        assert grace.get("/enter/nonsense/").status_code == 404
    assert grace.get("/enter/nonsense/").status_code == 429
    for number in range(60):
        try_name(RequestFactory().get("/"), f"desk:Somebody {number}", clock.now())
    page = grace.post("/desk/sign-in/", "/desk/sign-in/", name="Grace", password=PASSWORD)
    assert page.status_code == 200


def test_an_unknown_name_and_a_closed_one_are_told_the_same() -> None:
    grace, ida = DeskVisitor("Grace"), DeskVisitor("Ida")
    close_user(DeskUser.objects.get(name="Ida"))
    for name in ("Nobody", "Ida"):
        page = grace.post("/desk/sign-in/", "/desk/sign-in/", name=name, password=PASSWORD)
        assert (page.status_code, "do not belong" in page.content.decode()) == (403, True)
    assert "Sign in" in ida.html("/desk/")


def test_one_is_led_nowhere_else() -> None:
    for wanted in ("https://evil.example/", "//evil.example", "/hits/", "foo", "http://["):
        grace = DeskVisitor(f"Grace {wanted[:8]}")
        fields = {"name": grace.name, "password": PASSWORD, "next": wanted}
        page = grace.post("/desk/sign-in/", "/desk/sign-in/", **fields)
        assert page.request["PATH_INFO"] == "/desk/requesters/"


def test_this_machine_s_visitor_is_the_host_where_that_is_allowed(settings: Any) -> None:
    settings.MARKETPLACE_OPEN_DESK = True
    client = desk_client()
    page = client.get("/desk/", follow=True)
    assert "Open a requester" in page.content.decode()
    assert DeskSession.objects.count() == 1
    assert DeskUser.objects.get().role == Role.HOST
    assert desk_client().get("/desk/audit/", REMOTE_ADDR="192.0.2.7").status_code == 302
    for header in ("X-Forwarded-For", "X-Real-IP", "X-Forwarded-Proto", "CF-Connecting-IP"):
        forwarded = desk_client().get("/desk/audit/", headers={header: "127.0.0.1"})
        assert forwarded.status_code == 302, header


def test_nobody_signs_in_as_the_open_desk_s_host_by_password(settings: Any) -> None:
    settings.MARKETPLACE_OPEN_DESK = True
    desk_client().get("/desk/")
    settings.MARKETPLACE_OPEN_DESK = False
    ida = DeskVisitor("Ida")
    page = ida.post("/desk/sign-in/", "/desk/sign-in/", name="host", password="")
    assert page.status_code == 403


def test_another_password_ends_the_other_sessions() -> None:
    grace = DeskVisitor("Grace")
    elsewhere = desk_client()
    elsewhere.cookies[COOKIE] = grace.client.cookies[COOKIE].value
    second = DeskSession.objects.create(
        user=DeskUser.objects.get(),
        token_digest="x",
        created_at=clock.now(),
        expires_at=clock.now(),
    )
    path = "/desk/password/"
    assert "present password" in grace.post(path, path, old="no", new="x" * 12).content.decode()
    assert "10 to 200" in grace.post(path, path, old=PASSWORD, new="short").content.decode()
    grace.post(path, path, old=PASSWORD, new="another long one")
    assert not DeskSession.objects.filter(pk=second.pk).exists()
    assert "Requesters" in grace.html("/desk/")
    assert AuditEntry.objects.get().what == "Changed the password of Grace"


def test_the_first_host_is_made_by_a_command(monkeypatch: Any, capsys: Any) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(PASSWORD + "\n"))
    call_command("create_host", "Grace")
    assert "Grace can sign in at /desk/" in capsys.readouterr().out
    assert DeskUser.objects.get().has_password(PASSWORD)
    monkeypatch.setattr("sys.stdin", io.StringIO(PASSWORD + "\n"))
    with pytest.raises(CommandError, match="taken"):
        call_command("create_host", "Grace")
    monkeypatch.setattr("sys.stdin", io.StringIO("short\n"))
    with pytest.raises(CommandError, match="10 to 200"):
        call_command("create_host", "Ida")
    call_command("create_host", "Grace", reset=True)
    assert not DeskUser.objects.get().has_password(PASSWORD)
    with pytest.raises(CommandError, match="There is no host Ida"):
        call_command("create_host", "Ida", reset=True)


def test_the_last_host_stays(rita_keys: RequesterKeys) -> None:
    host = open_user("Grace", PASSWORD, None, clock.now())
    open_user("Rita at the desk", PASSWORD, Requester.objects.get(), clock.now())
    with pytest.raises(UserError, match="last host"):
        close_user(host)
    open_user("Ida", PASSWORD, None, clock.now())
    close_user(host)
    assert not DeskUser.objects.get(name="Grace").is_active
