"""A German worker reads German everywhere: joining, mail, tests, reasons, surveys, errors."""

import re
from typing import Any

import pytest
from django.core import mail
from django.test import Client
from django.urls import resolve
from django.utils import translation

from marketplace import clock
from marketplace.configuration import choose
from marketplace.models import ClassCode, InvitationDelivery, QualificationRequest, Worker
from marketplace.people.grants import add_members, make_group, remove_member
from marketplace.people.invitations import invite, make_class_code, send
from marketplace.questions.question_form import Text, _problem_with_text
from marketplace.questions.template import document, question_xml, survey_page
from marketplace.tests.boto import HOST
from marketplace.tests.desk import desk_client
from marketplace.tests.test_invitations import workers
from marketplace.tests.test_taking_tests import made
from marketplace.tests.visitor import Visitor

GERMAN = {"Accept-Language": "de", "Host": HOST}


@pytest.fixture
def german(ada: Visitor) -> Visitor:
    """Ada, who chose German."""
    Worker.objects.update(language="de")
    return ada


def stranger(*, csrf: bool = False) -> Client:
    return Client(enforce_csrf_checks=csrf, headers=GERMAN, raise_request_exception=False)


def test_joining_and_its_refusals_are_german() -> None:
    code = make_class_code("Spring class", 1, 14, "Grace", clock.now()).code
    assert "Mit einem Code dazukommen" in stranger().get("/join/").content.decode()
    assert "hier nicht bekannt" in stranger().get("/join/?code=NOTHING").content.decode()
    door = stranger().get(f"/join/?code={code}").content.decode()
    assert "Spring class: dazukommen" in door
    # The form carries the code on, not the page's language.
    assert f'name="code" value="{code}"' in door
    for name, sentence in ((" ", "1 bis 80"), ("Ada", "Sie sind angemeldet"), ("Eve", "vergeben")):
        page = stranger().post("/join/", {"code": code, "name": name})
        assert sentence in page.content.decode()
    assert ClassCode.objects.get().n_taken == 1


def test_an_invitation_s_mail_and_slip_are_in_the_worker_s_language(settings: Any) -> None:
    settings.MARKETPLACE_MAIL_FROM = "host@lab.example"
    people = workers()[:2]
    people[0].language, people[1].language = "de-at", ""
    letters = invite(people, InvitationDelivery.MAIL, "Grace", clock.now())
    assert [letter.language for letter in letters] == ["de", "en"]
    send(letters[:1], "https://m.example", clock.now())
    [sent] = mail.outbox
    assert sent.subject == "Ihr persönlicher Link"
    assert "Sie sind eingeladen" in sent.body


def test_a_test_s_problems_and_the_reasons_are_german(
    rita: Any, german: Visitor, later: Any
) -> None:
    path = made(rita)
    german.post(path, path, begin="1")
    page = german.post(path, path).content.decode()
    assert "Depth: Beantworten Sie diese Frage." in page
    later(hours=1)
    german.send_from(page, path, depth="sea", why="x")
    assert QualificationRequest.objects.get().reason == "The time of the test was up."
    type_id = path.split("/")[2]
    rita.associate_qualification_with_worker(
        QualificationTypeId=type_id, WorkerId=german.worker.worker_id
    )
    group = make_group("Panel", "", clock.now()).qualification_type
    add_members(group, [german.worker], clock.now())
    listed = german.get("/qualifications/").content.decode()
    assert "Mitglieder von Panel." in listed
    remove_member(group, german.worker, clock.now())
    listed = german.get("/qualifications/").content.decode()
    for sentence in ("war abgelaufen.", "Vom Betreiber aus der Gruppe", "Der Betreiber dieses"):
        assert sentence in listed
    assert "jetzt die Qualifikation „Harbours“" in german.get("/messages/").content.decode()


def test_a_bound_is_written_as_people_write_it() -> None:
    for least, most, said in (
        (1.0, 5.0, "von 1 bis 5."),
        (0.5, None, "ab 0,5."),
        (None, 2.0, "höchstens 2."),
    ):
        with translation.override("de"):
            answer = Text(is_numeric=True, least=least, most=most)
            assert _problem_with_text(answer, "9" if most else "0").endswith(said)


def test_a_survey_and_the_scripts_speak_the_worker_s_language(
    rita: Any, german: Visitor, make_hit: Any
) -> None:
    page = document(survey_page("https://s.example/", "Ten minutes."), "Survey")
    frame = german.accept(make_hit(rita, Question=question_xml(page)))
    html = Client(headers={"Host": HOST}).get(frame.url).content.decode()
    for words in ("Eine Umfrage beantworten", '<span lang="de">Abgeben</span>', "Abschlusscode"):
        assert words in html
    assert "Submit&quot;: &quot;Abgeben" in html
    assert "data-ours" not in html


def test_nobody_is_promised_that_a_shown_address_is_hidden(
    rita: Any, ada: Visitor, make_hit: Any
) -> None:
    write = f"{ada.submit(make_hit(rita)).path}write/"
    hidden = ("never your name or address", "do not see your address", "not your name or address")
    for address, promise in zip(("/account/", "/messages/", write), hidden, strict=True):
        assert promise in ada.get(address).content.decode()
    choose("requesters_see_mail", True, clock.now())
    for address, promise in zip(("/account/", "/messages/", write), hidden, strict=True):
        html = ada.get(address).content.decode()
        assert promise not in html
        assert "mail address, too" in html or address == "/messages/"


def test_what_leads_nowhere_is_a_page_of_the_house(german: Visitor) -> None:
    missing = german.client.get("/nowhere/")
    assert missing.status_code == 404
    assert "Unter dieser Adresse gibt es keine Seite" in missing.content.decode()
    assert 'href="/hits/"' in missing.content.decode()
    for client, path, words in (
        (stranger(), "/nowhere/", "Zur ersten Seite"),
        (desk_client(), "/desk/nowhere/", "To the first page"),
        (stranger(), "/sign-out/", "nimmt nur an, was ein Formular sendet"),
    ):
        page = client.get(path)
        assert page.status_code in (404, 405)
        assert words in page.content.decode()
        assert "frame-ancestors 'none'" in page["Content-Security-Policy"]


def test_a_form_without_its_token_is_refused_with_a_way_back(german: Visitor) -> None:
    back = {"Referer": f"http://{HOST}/preferences/?x=1"}
    for client, words in ((german.client, "Zum Formular fehlte"), (stranger(csrf=True), "Cookie")):
        page = client.post("/preferences/", headers=back)
        assert page.status_code == 403
        assert words in page.content.decode()
        assert 'href="/preferences/?x=1"' in page.content.decode()
    evil = stranger(csrf=True).post("/preferences/", headers={"Referer": "https://evil.example/x"})
    assert "evil" not in evil.content.decode()
    desk = desk_client().post("/desk/sign-in/")
    assert (desk.status_code, "Allow cookies" in desk.content.decode()) == (403, True)


def test_too_much_is_refused_on_a_page(settings: Any) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 10
    visitor = stranger(csrf=True)
    visitor.get("/")
    page = visitor.post("/sign-in/", {"name": "Ada" * 20})
    assert page.status_code == 400
    assert "unvollständig oder zu groß" in page.content.decode()


@pytest.mark.django_db(databases=[])
def test_a_fault_of_ours_needs_no_database(monkeypatch: pytest.MonkeyPatch) -> None:
    for path, words in (("/hits/", "Bei uns ist etwas"), ("/desk/", "Something broke")):
        client = stranger()
        client.cookies.load({"marketplace_session": "x", "marketplace_desk": "x"})
        # Pages that are imported later would keep what is put in here.
        resolve(path, "marketplace.urls")
        monkeypatch.setattr("marketplace.web.worker_pages.session_of", _fail)
        monkeypatch.setattr("marketplace.web.desk_pages.session_of", _fail)
        page = client.get(path)
        assert page.status_code == 500
        assert words in page.content.decode()
        assert re.search(r'href="/(desk/)?"', page.content.decode())


def _fail(*given: Any) -> None:
    raise RuntimeError("the database is gone")
