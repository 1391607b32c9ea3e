"""People at real sockets, for tests of what a page is told."""

import pytest
from django.utils import timezone

from tasks.dialog.tests.lines import open_line, serving_sockets
from tasks.dialog.tests.making import make_dialogs, make_lease, make_talker
from tasks.people.lease_context import lease_token
from tasks.tests.making import stage_of


@pytest.fixture
def port(settings):
    with serving_sockets(settings) as port:
        yield port


@pytest.fixture
def stage():
    return stage_of(make_dialogs(3), "dialog")


@pytest.fixture
def come(port, stage):
    """Return a function that brings somebody into the waiting room."""
    lines = []

    def come(person, *roles, lease=None):
        lease = lease or make_lease(
            stage, make_talker(stage.collection, person, *roles), timezone.now()
        )
        line = open_line(port)
        line.lease = lease
        lines.append(line)
        line.say(token=lease_token(lease))
        while not line.state:
            line.hear()
        return line

    yield come
    for line in lines:
        line.socket.close()


@pytest.fixture
def pair(come):
    """Return the student's and the teacher's line in a dialog that has begun."""
    student, teacher = come("AADA", "student"), come("AGRACE", "teacher")
    for line in (student, teacher):
        line.wait_for("checking")
        assert line.move("ready")["type"] == "taken"
    for line in (student, teacher):
        line.wait_for("talking", "student", 0)
    return student, teacher
