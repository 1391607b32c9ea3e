"""Not a byte of the section reaches the student, but what the teacher has picked."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from tasks.dialog.tests.making import make_lease, make_talker
from tasks.models import Dialog
from tasks.tests.making import consent, write_keys
from tasks.tests.visiting import open_page, post, state_of
from tasks.work.passages import section_of

pytestmark = pytest.mark.django_db(transaction=True)
RUN = 8
# What only the teacher is told, by name.
TEACHERS_OWN = (
    '"section":',
    '"tokens":',
    '"paragraphs":',
    '"start":',
    '"end":',
    '"max_span_tokens":',
)


def runs(section) -> Iterator[tuple[int, int]]:
    """Yield every run of tokens of the section that its beginning does not hold too."""
    known = f"{section.title}\n{section.background}\n{section.heading}"
    for first, last in zip(section.tokens, section.tokens[RUN - 1 :], strict=False):
        if section.text[first[0] : last[1]] not in known:
            yield first[0], last[1]


def open_ticket(client, lease):
    """Return the page of a ticket, as the marketplace's frame opens it."""
    session, soon = lease.session, timezone.now() + timedelta(hours=2)
    return open_page(client, session.posting, session.person, soon, assignment=session.session_id)


def assert_secret(heard: list[str], section, picked: list[tuple[int, int]]) -> None:
    """Look for each run in everything that was sent, outside of picked spans."""
    said = "\n".join(heard)
    for name in TEACHERS_OWN:
        assert name not in said
    shown = [section.text[start:end] for start, end in picked]
    for start, end in runs(section):
        words = section.text[start:end]
        if not any(words in text for text in shown):
            assert words not in said, words


def test_a_whole_dialog_tells_the_student_what_was_picked_and_nothing_else(pair):
    student, teacher = pair
    section = section_of(Dialog.objects.get().topic.seed_id)
    tokens = section.tokens
    spans = [(0, 3), (5, 11), None, (20, 21), (12, 19), None]
    picked = []
    for number, span in enumerate(spans):
        student.move("ask", text=f"What about {number}?")
        teacher.wait_for("talking", "teacher", number + 1)
        fields = {"start": None, "end": None, "affirmation": "neither", "continuation": "maybe"}
        if span:
            place = tokens[span[0]][0], tokens[span[1]][1]
            fields |= {"start": place[0], "end": place[1]}
            picked.append(place)
        # What the rules refuse, and what nobody may do, is told in words of ours alone.
        teacher.move("answer", **{**fields, "start": 0, "end": len(section.text)})
        student.move("answer", **fields)
        student.move("answer", **{**fields, "start": 0, "end": len(section.text)})
        assert teacher.move("answer", **fields)["type"] == "taken"
        student.wait_for("talking", "student", number + 1)
    student.move("ask", text="And what else?")
    student.move("end")
    student.wait_for("done")
    assert len(student.state["dialog"]["turns"]) == len(spans) + 1
    assert_secret(student.heard, section, picked)
    assert section.text in "".join(teacher.heard)


def test_the_search_finds_what_it_looks_for(pair):
    _, teacher = pair
    section = section_of(Dialog.objects.get().topic.seed_id)
    assert len(list(runs(section))) > RUN
    with pytest.raises(AssertionError):
        assert_secret(teacher.heard, section, [])


def test_the_pages_addresses_tell_the_student_nothing(pair, stage, tmp_path, settings):
    student, _ = pair
    write_keys(tmp_path, settings)
    section = section_of(Dialog.objects.get().topic.seed_id)
    consent(student.lease.worker, stage.collection)
    client = Client(HTTP_HOST="localhost")
    page = open_ticket(client, student.lease)
    heard = [page.content.decode()]
    state = state_of(page)
    assert state["items"] == []
    for name in state["urls"]:
        if name != "socket":
            title = {"item": "0", "title": section.title, "data": {"dialog": True}}
            heard.append(post(client, state, name, title).content.decode())
    assert_secret(heard, section, [])


def test_a_ticket_shows_nothing_before_its_dialog(stage, tmp_path, settings):
    write_keys(tmp_path, settings)
    lease = make_lease(stage, make_talker(stage.collection, "AADA"), timezone.now())
    consent(lease.worker, stage.collection)
    page = open_ticket(Client(HTTP_HOST="localhost"), lease).content.decode()
    for topic in stage.topics.all():
        assert_secret([page], section_of(topic.seed_id), [])
        assert section_of(topic.seed_id).title not in page
