"""A page talks through a real socket: it is known by its token, and nothing it sends does harm."""

import time

import orjson
import pytest
from django.core import signing
from django.db import OperationalError
from django.utils import timezone
from websockets.exceptions import ConnectionClosed, InvalidStatus

from common import prepared_sql
from common.tests.row_paths import watch_writes
from tasks.dialog import socket
from tasks.dialog.socket_actions import MESSAGES
from tasks.dialog.tests.lines import Line, open_line
from tasks.dialog.tests.making import make_lease, make_talker
from tasks.models import Dialog, LeaseState, PartnerReport, Ticket, Turn
from tasks.people.lease_context import LEASE_SALT, lease_token

pytestmark = pytest.mark.django_db(transaction=True)
OUT_OF_DATE = "This page is out of date; reload it."


def answer(teacher, **fields):
    token = teacher.state["dialog"]["tokens"][0]
    span = {"start": token[0], "end": token[1], "affirmation": "neither", "continuation": "maybe"}
    return teacher.move("answer", **{**span, **fields})


@pytest.mark.parametrize("origin", ["http://evil.example", None, "http://127.0.0.1:1"])
def test_pages_of_others_are_refused(port, origin):
    with pytest.raises(InvalidStatus):
        Line(port, origin)


def test_whoever_does_not_say_in_time_who_they_are_is_put_out_and_comes_back(port, monkeypatch):
    monkeypatch.setattr(socket, "INTRODUCTION_SECONDS", 0.2)
    assert closed_with(open_line(port)) == socket.LATER


@pytest.mark.parametrize("token", ["", "forged", 7, None])
def test_a_forged_token_is_refused_with_a_sentence(port, token):
    line = open_line(port)
    line.say(token=token)
    assert "no longer valid" in line.hear()["message"]
    assert closed_with(line) == socket.GONE


def test_what_comes_behind_a_message_that_closed_the_socket_is_read_by_nobody(port, monkeypatch):
    asked = []

    def fail(holder, **_):
        asked.append(holder)
        # Long enough for what the page sent behind it to be there.
        time.sleep(0.2)
        raise OperationalError("server closed the connection unexpectedly")

    monkeypatch.setattr(socket.socket_actions, "enter", fail)
    line = open_line(port)
    token = signing.dumps([7, "AADA"], salt=LEASE_SALT, compress=False)
    line.say(token=token)
    line.say(type="look")
    assert closed_with(line) == socket.LATER
    time.sleep(0.3)
    assert asked == [(7, "AADA")]


def test_a_returned_hit_lets_nobody_in(port, stage):
    lease = make_lease(stage, make_talker(stage.collection, "AADA"), timezone.now())
    lease.state = LeaseState.RETURNED
    lease.save()
    line = open_line(port)
    line.say(token=lease_token(lease))
    assert "Open it again from the marketplace" in line.hear()["message"]
    assert closed_with(line) == socket.GONE
    assert not Ticket.objects.exists()


def test_whoever_comes_first_waits_and_is_told_what_it_earns(come):
    state = come("AADA").wait_for("waiting")
    assert state["waiting"]["cents_per_minute"] == 15
    assert state["waiting"]["usual_questions"] is None
    assert state["earned"] == {
        "reward_cents": 30,
        "waiting_cents": 0,
        "turns_cents": 0,
        "turns": 0,
    }
    assert "dialog" not in state


def test_two_talk_and_what_was_said_is_kept(pair):
    student, teacher = pair
    assert student.move("ask", text="  Where was he born? ")["type"] == "taken"
    teacher.wait_for("talking", "teacher", 1)
    text = teacher.state["dialog"]["section"]
    paragraphs = [text[start:end] for start, end in teacher.state["dialog"]["paragraphs"]]
    assert " ".join(paragraphs) == text
    assert len(paragraphs) == 2
    start = text.index("in Hollin")
    said = answer(teacher, start=start, end=start + len("in Hollin"), continuation="follow_up")
    assert said["type"] == "taken"
    shown = student.wait_for("talking", "student", 1)["dialog"]
    [turn] = shown["turns"]
    assert turn["answer"] == {
        "text": "in Hollin",
        "continuation": "follow_up",
        "affirmation": "neither",
    }
    assert (shown["completed"], shown["next_cents"]) == (1, 6)
    row = Turn.objects.get()
    assert (row.question, row.start, row.continuation) == ("Where was he born?", start, "follow_up")


def test_a_message_sent_again_is_taken_and_said_once(pair, come):
    student, _ = pair
    fields = {"type": "ask", "dialog": student.state["dialog"]["id"], "text": "Where?"}
    first = student.say(**fields)
    assert student.reply_to(first)["type"] == "taken"
    again = come("AADA", lease=student.lease)
    assert again.reply_to(again.say(**{**fields, "id": first}))["type"] == "taken"
    assert again.wait_for("talking", "teacher", 1)["dialog"]["role"] == "student"
    assert Turn.objects.count() == 1


def test_a_message_sent_again_does_not_land_in_the_next_dialog(pair, come):
    student, _ = pair
    old = student.state["dialog"]["id"]
    student.move("report", reason="rude")
    come("AMALLORY", "teacher")
    new = student.wait_for("checking")["dialog"]["id"]
    assert new != old
    said = student.reply_to(student.say(type="ask", dialog=old, text="Where?"))
    assert said["type"] == "refused"
    assert (
        student.reply_to(student.say(type="report", dialog=old, reason="rude"))["type"] == "taken"
    )
    for kind in ("ready", "end"):
        assert student.reply_to(student.say(type=kind, dialog=old))["type"] == "taken"
    assert Dialog.objects.get(pk=new).state == "checking"
    assert not Ticket.objects.get(lease=student.lease).ready
    assert PartnerReport.objects.get().dialog_id == old


def test_nobody_moves_in_the_dialog_of_others(pair, come):
    student, _ = pair
    stranger = come("AMALLORY")
    dialog = student.state["dialog"]["id"]
    for kind in ("ready", "ask", "answer", "end", "report"):
        said = stranger.reply_to(stranger.say(type=kind, dialog=dialog, text="?", reason="rude"))
        assert (said["type"], said["message"]) == ("refused", OUT_OF_DATE)
    assert Dialog.objects.get().state == "talking"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "could not be read"),
        ("{", "could not be read"),
        ("[]", "could not be read"),
        ("null", "could not be read"),
        ('{"type": "ask"}', "out of date"),
        ('{"type": "ask", "dialog": true}', "out of date"),
        ('{"type": "ask", "dialog": 1e400}', "could not be read"),
        ('{"type": "ask", "dialog": 99999999999999999999}', "out of date"),
        ('{"type": "dance", "dialog": DIALOG, "id": "x"}', "out of date"),
        ('{"type": "ask", "dialog": DIALOG, "id": "x", "text": "Why?"}', "out of date"),
        ('{"type": "ask", "dialog": DIALOG, "id": "ID", "text": ["Why?"]}', "out of date"),
        ('{"type": "ask", "dialog": DIALOG, "id": "ID", "text": "\\u0000 "}', "Write a question"),
        ('{"type": "ask", "dialog": DIALOG, "id": "ID", "text": "LONG"}', "characters"),
        ('{"type": "answer", "dialog": DIALOG, "id": "ID", "start": true, "end": 2}', "Mark the"),
        ('{"type": "answer", "dialog": DIALOG, "id": "ID", "start": -4, "end": 2}', "Mark the"),
        ('{"type": "report", "dialog": DIALOG, "id": "ID", "reason": "x"}', "Choose what"),
        ('{"text": ' + "[" * 900 + "]" * 900 + "}", "could not be read"),
        ("x" * 9000, "could not be read"),
    ],
)
def test_what_cannot_be_read_is_refused_in_a_sentence_and_the_line_stays(pair, text, said):
    student, _ = pair
    places = {
        "DIALOG": str(student.state["dialog"]["id"]),
        '"ID"': '"6f1f9a52-0e6c-4d7e-9a55-3f1c1c4a4f10"',
        "LONG": "a" * 301,
    }
    for name, value in places.items():
        text = text.replace(name, value)
    student.socket.send(text)
    while (message := student.hear())["type"] != "refused":
        pass
    assert said in message["message"]
    assert student.move("ask", text="Why?")["type"] == "taken"


def test_a_question_that_is_far_too_long_is_refused_under_its_own_id_and_the_next_is_taken(pair):
    student, _ = pair
    said = student.move("ask", text="a" * 9_000)
    assert said["type"] == "refused"
    assert "at most 300 characters" in said["message"]
    assert student.move("ask", text="Why?")["type"] == "taken"


def test_a_message_that_no_page_could_send_closes_the_line(pair):
    student, _ = pair
    student.socket.send("x" * 20_000)
    assert closed_with(student) == 1009


def test_whoever_floods_is_told_to_wait_and_loses_nothing(pair):
    student, _ = pair
    for _ in range(int(MESSAGES.at_once) + 5):
        student.say(type="ask", dialog=0, text="?")
    while (message := student.hear()).get("wait") is None:
        pass
    assert 0 < message["wait"] <= 0.5
    assert "Too many messages" in message["message"]
    assert message["id"]


def test_a_partner_whose_line_is_cut_is_shown_as_away_and_comes_back(pair, come):
    student, teacher = pair
    teacher.socket.close()
    while student.state["dialog"]["partner_present"]:
        student.hear()
    assert student.state["dialog"]["back_until"] > student.state["now"]
    come("AGRACE", lease=teacher.lease)
    while not student.state["dialog"]["partner_present"]:
        student.hear()
    assert student.state["phase"] == "talking"


def test_two_tabs_show_the_same(pair, come):
    student, teacher = pair
    other = come("AADA", lease=student.lease)
    student.move("ask", text="Where?")
    assert other.wait_for("talking", "teacher", 1)["dialog"]["turns"][0]["question"] == "Where?"
    other.socket.close()
    teacher.wait_for("talking", "teacher", 1)
    assert teacher.state["dialog"]["partner_present"]


def test_the_end_is_told_to_both_with_what_they_earned(pair):
    student, teacher = pair
    student.move("ask", text="Where?")
    teacher.wait_for("talking", "teacher", 1)
    answer(teacher)
    student.wait_for("talking", "student", 1)
    student.move("end")
    for line, mine in ((student, True), (teacher, False)):
        state = line.wait_for("done")
        assert (state["dialog"]["ending"], state["dialog"]["ended_by_me"]) == ("ended", mine)
        assert state["earned"]["turns_cents"] == 5


def test_whoever_reports_is_offered_somebody_else_at_once(pair, come):
    student, teacher = pair
    third = come("ATHIRD", "teacher")
    student.move("report", reason="nonsense", note="He writes \x00 nothing.")
    assert student.wait_for("checking")["dialog"]["role"] == "student"
    third.wait_for("checking")
    assert teacher.wait_for("done")["dialog"]["ending"] == "reported"
    assert PartnerReport.objects.get().note == "He writes  nothing."


def test_whoever_stops_waiting_is_done(come):
    line = come("AADA")
    assert line.reply_to(line.say(type="finish"))["type"] == "taken"
    state = line.wait_for("done")
    assert "dialog" not in state
    assert state["earned"]["reward_cents"] == 30


def closed_with(line):
    try:
        while True:
            line.hear()
    except ConnectionClosed as closed:
        return closed.rcvd.code


def test_what_was_written_and_not_sent_is_there_after_a_reload(pair, come):
    student, teacher = pair
    student.say(type="draft", dialog=student.state["dialog"]["id"], draft={"question": "Whe"})
    student.move("ask", text="Where?")
    again = come("AADA", lease=student.lease)
    assert again.state["written"]["draft"] == {"question": "Whe"}
    assert come("AGRACE", lease=teacher.lease).state["written"] is None
    assert "written" not in teacher.state


def test_a_move_passes_six_modules_from_socket_to_row(pair, monkeypatch):
    student, teacher = pair
    ways = watch_writes(monkeypatch, Turn)
    assert student.move("ask", text="Where was he born?")["type"] == "taken"
    teacher.wait_for("talking", "teacher", 1)
    assert answer(teacher)["type"] == "taken"
    assert [len(way) <= 6 and way[0] for way in ways] == ["tasks.dialog.database_threads"] * 2, ways


def test_whoever_is_back_at_once_costs_one_statement_and_disturbs_nobody(pair, come, monkeypatch):
    student, teacher = pair
    asked = []
    run = prepared_sql._run
    monkeypatch.setattr(prepared_sql, "_run", lambda *given: asked.append(given[0]) or run(*given))
    monkeypatch.setattr(socket.socket_actions, "enter", None)
    student.socket.close()
    back = come("AADA", lease=student.lease)
    assert back.state["phase"] == "talking"
    assert len(asked) == 1
    assert back.move("ask", text="Where?")["type"] == "taken"
    shown = teacher.wait_for("talking", "teacher", 1)
    assert shown["dialog"]["partner_present"]
    assert [orjson.loads(text)["type"] for text in teacher.heard[-1:]] == ["change"]
    assert Ticket.objects.get(lease=student.lease).connections == 1


def test_whoever_returned_their_hit_does_not_come_back(pair, port):
    student, _ = pair
    student.socket.close()
    student.lease.state = LeaseState.RETURNED
    student.lease.save()
    line = open_line(port)
    line.say(token=lease_token(student.lease))
    assert "Open it again from the marketplace" in line.hear()["message"]
    assert closed_with(line) == socket.GONE
