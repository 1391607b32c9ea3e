"""Who writes what a reader answers from too little is told, held up by nothing and paid as ever."""

from datetime import datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone

from annotation.protocols import reader_hints
from annotation.protocols.bookqa import checks as bookqa
from annotation.protocols.hotpotqa import checks as hotpotqa
from annotation.protocols.quac import checks as quac
from annotation.release.dataset_card import card
from annotation.release.facts import Dates, Facts
from annotation.replay.rerun import HeldAssignment, Rerun
from annotation.replay.tests import test_acts
from annotation.reports.collection import Outcomes
from collector.models import Collection
from collector.protocols.loading import get_protocol
from tasks.models import Lease, Payment, Question, ReaderHint, Submission
from tasks.tests.making import make_collection, questions_for, write_keys
from tasks.tests.visiting import at_work, post
from tasks.work.widgets.problems import Problem

SAID = "The paragraph alone seems to answer it: “Sudan”. Does it need the link?"
ANSWERED = "Which place was founded first by anybody?"
OPEN = "Who founded the later place of them?"


@pytest.fixture
def looked_on(tmp_path: Any, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Collection:
    """Return an IIRC collection; its reader answers ANSWERED from the paragraph, and no other."""
    write_keys(tmp_path, settings)
    settings.SUBMIT_ORIGINS = ["http://127.0.0.1:8000"]

    def surest(question: str, title: str, text: str) -> tuple[str, float]:
        return ("Sudan", 0.85) if question.startswith(ANSWERED) else ("Sudan", 0.75)

    monkeypatch.setattr(reader_hints, "surest", surest)
    return make_collection(checks__reader_confidence=0.8)


@pytest.fixture
def client() -> Client:
    """Return a worker's browser."""
    return Client(HTTP_HOST="localhost")


def begin(client: Client, collection: Collection) -> Any:
    """Return the state of the page on which somebody has begun to ask."""
    soon: datetime = timezone.now() + timedelta(hours=2)
    return at_work(client, collection, soon)[1]


def card_of(collection: Collection) -> str:
    """Return the card of a release without a question."""
    return card(Facts(collection, Outcomes(), Dates(timezone.now().date(), None, None)))


def written(*texts: str) -> dict[str, Any]:
    """Return two questions with these words."""
    data = questions_for(Lease.objects.get())
    for question, text in zip(data["questions"], texts, strict=True):
        question["text"] = text
    return data


def saved(client: Client, state: Any, data: dict[str, Any], version: int = 0) -> list[Any]:
    """Return the advice that comes back when a draft is saved."""
    answer = post(client, state, "draft", {"version": version, "draft": {"data": data}})
    return [each for each in answer.json()["hints"] if each["message"] == SAID]


def handed_in(client: Client, state: Any, data: dict[str, Any]) -> HttpResponse:
    """Return what comes back when the work is handed in."""
    answer: HttpResponse = post(client, state, "submit", {"data": data})
    return answer


@pytest.mark.django_db
def test_what_was_told_of_is_counted_and_what_was_handed_in_all_the_same(
    client: Client, looked_on: Collection
) -> None:
    state = begin(client, looked_on)
    both = written(ANSWERED, f"{ANSWERED} Or last?")
    told = saved(client, state, both)
    assert told == [{"message": SAID, "index": at, "field": "text"} for at in (0, 1)]
    assert handed_in(client, state, written(ANSWERED, OPEN)).status_code == 200
    assert list(ReaderHint.objects.values_list("place", "kept")) == [(0, True), (1, False)]
    sentence = "a reader answered 2 of them from less text"
    assert sentence in card_of(looked_on)
    assert "1 were handed in all the same" in card_of(looked_on)
    # What simulated workers were told is nothing that people did.
    Submission.objects.update(synthetic=True)
    assert sentence not in card_of(looked_on)


@pytest.mark.django_db
def test_nothing_is_held_up_and_the_pay_is_the_same(client: Client, looked_on: Collection) -> None:
    state = begin(client, looked_on)
    both = written(ANSWERED, f"{ANSWERED} Or last?")
    saved(client, state, both)
    assert handed_in(client, state, both).status_code == 200
    assert Question.objects.count() == 2
    assert ReaderHint.objects.filter(kept=True).count() == 2
    assert Payment.objects.get().amount_cents == looked_on.parameters["question"]["reward_cents"]


@pytest.mark.django_db
def test_a_question_is_counted_once_however_often_it_was_saved(
    client: Client, looked_on: Collection
) -> None:
    state = begin(client, looked_on)
    for version in range(3):
        assert len(saved(client, state, written(ANSWERED, OPEN), version)) == 1
    assert ReaderHint.objects.count() == 1


@pytest.mark.django_db
def test_who_was_never_told_kept_nothing(client: Client, looked_on: Collection) -> None:
    state = begin(client, looked_on)
    assert handed_in(client, state, written(ANSWERED, OPEN)).status_code == 200
    assert not ReaderHint.objects.exists()


@pytest.mark.django_db
def test_what_was_told_stands_in_the_log_and_a_replay_has_it_again(
    client: Client, looked_on: Collection, tmp_path: Path
) -> None:
    state = begin(client, looked_on)
    saved(client, state, written(ANSWERED, f"{ANSWERED} Or last?"))
    handed_in(client, state, written(ANSWERED, OPEN))
    told = list(ReaderHint.objects.values_list("place", "kept"))
    assert told == [(0, True), (1, False)]
    log = test_acts.written(looked_on, tmp_path)
    ReaderHint.objects.all().delete()
    [line] = log.assignments
    # The page has taken the work in already: what is left is what no page makes again.
    page: Any = SimpleNamespace(goes_on=lambda data: False, submit=lambda data: (state, []))
    rerun = Rerun(looked_on, log)
    rerun._holds[line.taken] = HeldAssignment(line, None, page, page, Lease.objects.get())
    rerun._hand_in(line)
    assert list(ReaderHint.objects.values_list("place", "kept")) == told


@pytest.mark.django_db
def test_no_reader_looks_on_unless_it_is_asked_to(client: Client, looked_on: Collection) -> None:
    looked_on.parameters["checks"]["reader_confidence"] = 0.0
    looked_on.save()
    state = begin(client, looked_on)
    assert saved(client, state, written(ANSWERED, OPEN)) == []
    assert "a reader answered" not in card_of(looked_on)


PARAGRAPHS = {
    "Meteora (album)": "Meteora is the second studio album by the American rock band Linkin Park. "
    "It was released on March 25, 2003, through Warner Records.",
    "Linkin Park": "Linkin Park is an American rock band from Agoura Hills. It was formed in 1996.",
}


def of_pair(question: str, answer: str, confidence: float, type: str = "bridge") -> list[Problem]:
    """Return what is said of a question about the two paragraphs."""
    given: Any = get_protocol("hotpotqa").parameters({"checks.reader_confidence": confidence})
    place, text = next((at, text) for at, text in enumerate(PARAGRAPHS.values()) if answer in text)
    start = text.index(answer)
    span = {"document": str(place), "start": start, "end": start + len(answer), "text": answer}
    item = {
        "type": type,
        "form": "any",
        "paragraphs": [
            {"document": str(at), "title": title, "text": text, "sentences": [[0, len(text)]]}
            for at, (title, text) in enumerate(PARAGRAPHS.items())
        ],
    }
    facts = [[0, 0], [1, 0]]
    pair = {"text": question, "type": "span", "spans": [span], "facts": facts, "skipped": False}
    found = hotpotqa.problems("pair", {"pairs": [pair]}, [item], given.question, given)
    return [problem for problem in found if "alone seems to give the answer" in problem.message]


ONE_HOP = "When was the second studio album by the band Linkin Park released?"


def test_a_pair_of_which_a_reader_needs_one_is_told_of_once() -> None:
    [said] = of_pair(ONE_HOP, "March 25, 2003", 0.5)
    assert said.message.startswith("“Meteora (album)” alone")
    assert (said.hint, said.from_reader, said.field) == (True, True, "text")
    [by_rule] = of_pair(ONE_HOP, "March 25, 2003", 0.0)
    assert (by_rule.hint, by_rule.from_reader) == (True, False)


def test_of_two_that_are_compared_one_is_right_by_chance() -> None:
    said = of_pair(ONE_HOP, "March 25, 2003", 0.5, "comparison")
    assert not any(one.from_reader for one in said)


def test_where_nothing_leads_an_answer_would_be_luck() -> None:
    assert of_pair("Who sang of rivers before anybody else did?", "1996", 1e-9) == []


SUMMARY = (
    "Marta burns a letter. Childers builds an orphanage in Sudan with the money of his church. "
    "Later Marta leaves for Varn."
)


def of_story(question: str, answer: str, confidence: float) -> list[Problem]:
    """Return what the reader says of a question about the summary."""
    given: Any = get_protocol("bookqa").parameters({"checks.reader_confidence": confidence})
    data = {"entries": [{"item": "0", "fields": {"question": question, "answer": answer}}]}
    items = [{"id": "0", "passage": {"text": SUMMARY}}]
    found = bookqa.problems("text", data, items, given.question, given)
    return [problem for problem in found if problem.from_reader]


def test_one_sentence_of_a_summary_is_too_little() -> None:
    question = "In what country did Childers build his orphanage?"
    [said] = of_story(question, "Sudan", 0.4)
    assert said.hint
    assert said.message.startswith("One sentence of the summary")
    assert of_story(question, "Sudan", 0.0) == []
    assert of_story(question, "Marta's doing", 0.4) == []


def of_talk(question: str, confidence: float) -> list[Problem]:
    """Return what the reader says of a student's question about the band's history."""
    given: Any = get_protocol("quac").parameters({"checks.reader_confidence": confidence})
    (title, background), *_ = PARAGRAPHS.items()
    seen = {"title": title, "heading": "Recording", "background": background}
    found: list[Problem] = quac.problems(
        "dialog", {"questions": [question]}, [seen], given.dialog, given
    )
    assert all(problem.hint and problem.from_reader for problem in found)
    return found


def test_a_student_is_told_of_what_the_beginning_of_the_article_says() -> None:
    [said] = of_talk("When was the second studio album by the band released?", 0.6)
    assert "“March 25, 2003”" in said.message
    assert of_talk("When was the second studio album by the band released?", 0.0) == []


def test_whom_an_article_is_about_is_no_answer_to_what_is_asked_of_them() -> None:
    assert of_talk("What was the second studio album by Linkin Park?", 1e-6) == []


def test_a_dialog_that_is_handed_in_is_read_by_nobody() -> None:
    given: Any = get_protocol("quac").parameters({"checks.reader_confidence": 0.6})
    assert quac.problems("dialog", {"dialog": [True]}, [], given.dialog, given) == []
    assert given.reader_looks_on()
    assert not get_protocol("quac").parameters().reader_looks_on()
