"""Messages from requesters to workers they know."""

from typing import Any

from marketplace.models import Assignment, AuditEntry, Message, Requester
from marketplace.notifications.messages import messages_to
from marketplace.tests.desk import DeskVisitor
from marketplace.tests.refusals import refused
from marketplace.tests.visitor import Visitor


def test_only_workers_one_has_reviewed_are_reached(
    rita: Any, ada: Visitor, grace: Visitor, make_hit: Any
) -> None:
    hit = make_hit(rita)
    ada.submit(hit)
    [assignment] = rita.list_assignments_for_hit(HITId=hit["HITId"])["Assignments"]
    rita.approve_assignment(AssignmentId=assignment["AssignmentId"])
    reply = rita.notify_workers(
        Subject="New HITs",
        MessageText="There are more <b>today</b>.",
        WorkerIds=[ada.worker.worker_id, grace.worker.worker_id, "ANOBODY"],
    )
    failed = [one["WorkerId"] for one in reply["NotifyWorkersFailureStatuses"]]
    assert failed == [grace.worker.worker_id, "ANOBODY"]
    assert "1<span" in ada.get("/hits/").content.decode()
    page = ada.get("/messages/").content.decode()
    assert "There are more &lt;b&gt;today&lt;/b&gt;." in page
    assert "unread" not in ada.get("/hits/").content.decode()


def test_a_message_leads_to_what_it_is_about(rita: Any, ada: Visitor, make_hit: Any) -> None:
    ada.submit(make_hit(rita, Title="A first look"))
    assignment = Assignment.objects.get()
    ada.post(
        f"/work/{assignment.pk}/write/", f"/work/{assignment.pk}/write/", subject="s", text="t"
    )
    assert (
        f'<a href="/work/{assignment.pk}/">A first look</a>'
        in ada.get("/messages/").content.decode()
    )
    Message.objects.all().delete()
    row = rita.create_qualification_type(
        Name="Passed", Description="Opens the main task.", QualificationTypeStatus="Active"
    )["QualificationType"]
    rita.associate_qualification_with_worker(
        QualificationTypeId=row["QualificationTypeId"], WorkerId=ada.worker.worker_id
    )
    assert (
        ' · <a href="/qualifications/">Qualifications</a>' in ada.get("/messages/").content.decode()
    )


def test_a_worker_reads_what_was_sent(rita: Any, ada: Visitor, make_hit: Any) -> None:
    ada.submit(make_hit(rita), question="Who kept the <light>?")
    page = ada.get(f"/work/{Assignment.objects.get().pk}/submitted/").content.decode()
    assert "<dt>question</dt><dd>Who kept the &lt;light&gt;?</dd>" in page
    ada.submit(make_hit(rita), work="https://task.example/sent/1/", other="https://evil.test/")
    page = ada.get(f"/work/{Assignment.objects.last().pk}/submitted/").content.decode()
    assert 'href="https://task.example/sent/1/"' in page
    assert "evil.test" not in page


def test_a_message_has_its_limits(rita: Any) -> None:
    message = {"Subject": "s", "MessageText": "t", "WorkerIds": ["A1"]}
    for change in ({"Subject": ""}, {"MessageText": "x" * 4097}, {"WorkerIds": []}):
        with refused("InvalidParameterValue"):
            rita.notify_workers(**message | change)
    with refused("InvalidParameterValue"):
        rita.notify_workers(**message | {"WorkerIds": [f"A{n}" for n in range(101)]})


def test_a_worker_writes_to_the_requester_of_a_hit_and_answers(
    rita: Any, ada: Visitor, grace: Visitor, make_hit: Any
) -> None:
    frame = ada.submit(make_hit(rita))
    path = f"{frame.path}write/"
    page = ada.post(path, path, subject="The third text", text="It is <cut> off.")
    assert "Your message to Rita was sent." in page.content.decode()
    assert "It is &lt;cut&gt; off." in page.content.decode()
    [letter] = messages_to(Requester.objects.get(name="Rita"))
    assert (letter.subject, letter.about_id) == ("The third text", int(frame.path.split("/")[2]))
    assert "unread" not in ada.get("/hits/").content.decode()
    assert grace.send(path, subject="s", text="t").status_code == 404

    rita.approve_assignment(AssignmentId=letter.about.assignment_id)
    rita.notify_workers(Subject="Hello", MessageText="x", WorkerIds=[ada.worker.worker_id])
    hello = Message.objects.latest("pk")
    back = f"/messages/{hello.pk}/reply/"
    assert "Re: Hello" in ada.get(back).content.decode()
    ada.post(back, back, subject="Re: Hello", text="Thank you.")
    assert messages_to(hello.requester).first().text == "Thank you."
    assert grace.send(back, subject="s", text="t").status_code == 404
    own = ada.send(f"/messages/{letter.pk}/reply/", subject="s", text="t")
    assert own.status_code == 404


def test_what_is_refused_keeps_what_was_written(rita: Any, ada: Visitor, make_hit: Any) -> None:
    frame = ada.accept(make_hit(rita))
    path = f"{frame.path}write/"
    refused = ada.post(path, path, subject="", text="A long explanation")
    assert refused.status_code == 400
    assert "A long explanation" in refused.content.decode()
    for n in range(20):
        ada.send(path, subject=str(n), text="t")
    assert "go on tomorrow" in ada.send(path, subject="s", text="t").content.decode()


def test_a_letter_sent_twice_is_one_and_other_words_are_another(
    rita: Any, ada: Visitor, make_hit: Any, settings: Any
) -> None:
    settings.MARKETPLACE_OPEN_DESK = False
    path = f"{ada.submit(make_hit(rita)).path}write/"
    page = ada.get(path).content.decode()
    for text in ("It is cut off.", "It is cut off.", "It is cut off, too."):
        told = ada.send_from(page, path, subject="The third text", text=text).content.decode()
        assert "Your message to Rita was sent." in told
    letters = messages_to(Requester.objects.get())
    assert [letter.text for letter in letters] == ["It is cut off, too.", "It is cut off."]
    # A page that is opened again writes another letter, also in the same words.
    ada.post(path, path, subject="The third text", text="It is cut off.")
    assert messages_to(Requester.objects.get()).count() == 3

    desk = DeskVisitor("Rita", Requester.objects.get())
    first, second = letters[0], letters[1]
    page = desk.html("/desk/letters/")
    for letter, text in ((first, "Thanks."), (first, "Thanks."), (second, "Thanks.")):
        told = desk.send(page, f"/desk/letters/{letter.pk}/reply/", text=text).content.decode()
        assert "Your answer is among the worker" in told
    replies = Message.objects.filter(is_from_worker=False)
    assert list(replies.values_list("text", flat=True)) == ["Thanks.", "Thanks."]
    assert AuditEntry.objects.filter(what__startswith="Answered a message").count() == 2
