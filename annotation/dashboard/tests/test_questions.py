"""Tests of the list of questions, of one question, and of overriding."""

import csv
import io
import re
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from django.test import Client
from django.utils import timezone
from django.utils.html import escape

from annotation.dashboard.questions.filters import ADJUDICATION
from annotation.dashboard.questions.reading import article_texts
from annotation.dashboard.tests.making import make_answer, make_question, make_verdict, send
from annotation.dashboard.tests.test_collections import queries
from annotation.decisions.records import records
from annotation.decisions.verdicts import decide_collection
from annotation.models import Override, Verdict
from annotation.records.schema import chosen_vote
from annotation.release.row_tables import vote_rows, write_votes
from collector.models import Collection
from tasks.models import Answer, Payment, Question
from tasks.simulation.identity import marked
from tasks.tests.making import make_collection, stage_of

pytestmark = pytest.mark.django_db
PAGE = "/collections/pilot/questions/"


@pytest.fixture
def pilot(rita: Client) -> Collection:
    """Return a collection without any question."""
    return make_collection(slug="pilot")


def ask(collection: Collection, outcome: str = "", **fields: object) -> Question:
    """Return a question, with three votes and a verdict when an outcome is given."""
    question = make_question(stage_of(collection, "question"), **fields)
    if outcome:
        stage = stage_of(collection, "answer")
        first = make_answer(question, stage)
        make_answer(question, stage, "binary", yes_no="no")
        make_answer(question, stage, "bad", reason="It makes no sense.", context=[])
        chosen = {"chosen": first, "agreeing": [first.pk]} if outcome == "kept" else {}
        make_verdict(question, outcome, **chosen)
    return question


def decide(rita: Client, question: Question, form: dict[str, str], **more: Any) -> Any:
    """Return the answer to the form that decides about a question by hand."""
    page = f"{PAGE}{question.key}/"
    return send(rita, page, f"{page}override/", form, **more)


def test_without_questions_it_says_when_they_come(rita: Client, pilot: Collection) -> None:
    assert "No question has been written yet" in rita.get(PAGE).content.decode()


def test_one_question_is_listed_with_its_verdict(rita: Client, pilot: Collection) -> None:
    question = ask(pilot, "kept")
    page = rita.get(PAGE).content.decode()
    assert question.text in page
    assert "12 years" in page
    assert "In the dataset" in page
    assert "3 votes" in page


def test_a_simulated_vote_is_told_apart(rita: Client, pilot: Collection) -> None:
    question = ask(pilot, "kept")
    assert "Simulated" not in rita.get(f"{PAGE}{question.key}/").content.decode()
    vote = question.answers.latest("pk")
    vote.synthetic = True
    vote.save()
    assert rita.get(f"{PAGE}{question.key}/").content.decode().count("Simulated") == 1


def test_what_a_replay_added_to_an_answer_is_not_shown(rita: Client, pilot: Collection) -> None:
    question = make_question(stage_of(pilot, "question"))
    vote = make_answer(question, stage_of(pilot, "answer"), affirmation="yes", continuation="maybe")
    page = rita.get(f"{PAGE}{question.key}/").content.decode()
    assert "Yes · Maybe follow up" in page
    vote.payload = marked(vote.payload, ["affirmation"])
    vote.save()
    page = rita.get(f"{PAGE}{question.key}/").content.decode()
    assert '<p class="answer-acts">Maybe follow up</p>' in page


def test_questions_of_a_qualification_are_not_listed(rita: Client, pilot: Collection) -> None:
    question = make_question(stage_of(pilot, "question_qualification"))
    assert question.text not in rita.get(PAGE).content.decode()
    assert rita.get(f"{PAGE}{question.key}/").status_code == 404


@pytest.mark.parametrize(
    ("query", "listed"),
    [
        ("", {"kept", "dropped", "waiting", ""}),
        ("?outcome=kept", {"kept"}),
        ("?outcome=none", {""}),
        ("?outcome=by_hand", set()),
        ("?outcome=nonsense", {"kept", "dropped", "waiting", ""}),
        ("?reason=no_agreement", {"kept", "dropped", "waiting"}),
        ("?reason=nonsense", set()),
        ("?type=value", {"kept"}),
        ("?fold=train", {"kept", "dropped", "waiting", ""}),
        ("?fold=test", set()),
        ("?q=about+DROPPED", {"dropped"}),
        ("?q=%00%27%3B--", set()),
        ("?page=99&outcome=kept", {"kept"}),
    ],
)
def test_they_are_found_by(rita: Client, pilot: Collection, query: str, listed: set[str]) -> None:
    pilot.seeds.exclude(fold="").update(fold="train")
    for outcome in ("kept", "dropped", "waiting", ""):
        ask(pilot, outcome, text=f"What is said about {outcome or 'nothing'} things?")
    page = rita.get(PAGE + query).content.decode()
    words = {"": "nothing"}
    for outcome in ("kept", "dropped", "waiting", ""):
        text = f"What is said about {words.get(outcome, outcome)} things?"
        assert (text in page) == (outcome in listed), outcome


def test_a_tab_counts_what_it_lists_of_what_is_sought(rita: Client, pilot: Collection) -> None:
    for outcome in ("kept", "dropped", "waiting"):
        ask(pilot, outcome, text=f"What is said about {outcome} things?")
    ask(pilot, "dropped", text="What is said about nothing?")

    def counts(query: str) -> list[str]:
        page = rita.get(PAGE + query).content.decode()
        return re.findall(r"(?:All|In the dataset|Excluded) <span>(\d+)</span>", page)

    assert counts("") == ["4", "1", "2"]
    assert counts("?q=things&outcome=dropped") == ["3", "1", "1"]
    assert counts("?q=nobody") == ["0", "0", "0"]


def test_a_long_list_has_pages(rita: Client, pilot: Collection) -> None:
    for _ in range(26):
        ask(pilot)
    page = rita.get(PAGE + "?fold=").content.decode()
    assert "Page 1 of 2" in page
    assert 'href="?page=2"' in page


def test_a_question_is_shown_with_everything_said_about_it(rita: Client, pilot: Collection) -> None:
    question = ask(pilot, "kept")
    page = rita.get(f"{PAGE}{question.key}/").content.decode()
    assert f"{question.payload['context'][0]['text']}</mark>" in page
    for words in ("Released", "Yes or no", "It makes no sense.", "None so far", "Place"):
        assert words in page
    assert "Keep with answer B" in page
    assert "Keep with answer C" not in page, "a question is never kept with a bad vote"
    for answer in question.answers.all():
        assert answer.worker_id not in page


def test_a_later_reading_is_shown_but_is_no_vote(rita: Client, pilot: Collection) -> None:
    question = ask(pilot, "kept")
    make_answer(question, stage_of(pilot, "human_performance"))
    page = rita.get(f"{PAGE}{question.key}/").content.decode()
    assert "Second reading, no vote" in page
    assert "Keep with answer D" not in page
    form = {"decision": "D", "note": "I like it."}
    decide(rita, question, form)
    assert not Override.objects.exists()


def test_a_question_nobody_answered_cannot_be_decided(rita: Client, pilot: Collection) -> None:
    question = ask(pilot)
    assert "Not answered yet" in rita.get(f"{PAGE}{question.key}/").content.decode()
    form = {"decision": "drop", "note": "Odd."}
    reply = send(
        rita, f"{PAGE}{question.key}/", f"{PAGE}{question.key}/override/", form, follow=True
    )
    assert "Nobody has answered yet" in reply.content.decode()


def test_it_is_kept_by_hand_and_that_is_logged(rita: Client, pilot: Collection) -> None:
    question = ask(pilot, "dropped")
    before = list(Payment.objects.values())
    form = {"decision": "B", "note": "Two say the same in other words."}
    page = send(
        rita, f"{PAGE}{question.key}/", f"{PAGE}{question.key}/override/", form, follow=True
    ).content.decode()
    verdict = Verdict.objects.get()
    assert (verdict.outcome, verdict.overridden, verdict.chosen.type) == ("kept", True, "binary")
    logged = Override.objects.get()
    assert (logged.by, logged.old_outcome, logged.new_outcome) == ("owner", "dropped", "kept")
    assert "kept it with answer B" in page
    assert "Overridden by a reviewer: Two say the same in other words." in page
    assert "Overridden by a reviewer" in rita.get(PAGE, {"outcome": "by_hand"}).content.decode()
    overview = rita.get("/collections/pilot/").content.decode()
    assert "owner overrode a verdict: keeps the question." in overview
    assert "Two say the same in other words." in page
    assert list(Payment.objects.values()) == before


def test_it_is_given_back_to_its_votes(rita: Client, pilot: Collection) -> None:
    question = ask(pilot, "kept")
    address = f"{PAGE}{question.key}/"
    assert "Follow the votes again" not in rita.get(address).content.decode()
    send(rita, address, f"{address}override/", {"decision": "drop", "note": "Odd."})
    assert "Follow the votes again" in rita.get(address).content.decode()
    before = list(Payment.objects.values())
    form = {"decision": "votes", "note": "Not so odd."}
    page = send(rita, address, f"{address}override/", form, follow=True).content.decode()
    assert "the verdict follows the votes again" in page
    assert "gave it back to the votes" in page
    assert Verdict.objects.get().overridden is False
    assert list(Payment.objects.values()) == before
    page = send(rita, address, f"{address}override/", form, follow=True).content.decode()
    assert "It follows the votes already" in page
    assert "gave a question back to its votes." in rita.get("/collections/pilot/").content.decode()


def test_it_is_left_out_by_hand(rita: Client, pilot: Collection) -> None:
    question = ask(pilot, "kept")
    form = {"decision": "drop", "note": "Names a living person."}
    decide(rita, question, form)
    verdict = Verdict.objects.get()
    assert (verdict.outcome, verdict.chosen) == ("dropped", None)
    page = rita.get(f"{PAGE}{question.key}/").content.decode()
    assert "Excluded</span> Overridden by a reviewer: Names a living person.</p>" in page


@pytest.mark.parametrize(
    ("form", "sentence"),
    [
        ({"decision": "A", "note": "  "}, "Say in the note why"),
        ({"note": "Because."}, "Choose an answer to keep the question with"),
        ({"decision": "Z", "note": "Because."}, "Choose one of this question"),
        ({"decision": "C", "note": "Because."}, "says that the question is bad"),
    ],
)
def test_a_refused_decision_changes_nothing_and_keeps_what_was_typed(
    rita: Client, pilot: Collection, form: dict[str, str], sentence: str
) -> None:
    question = ask(pilot, "dropped")
    page = send(
        rita, f"{PAGE}{question.key}/", f"{PAGE}{question.key}/override/", form, follow=True
    ).content.decode()
    assert sentence in page
    assert form["note"] in page
    assert Verdict.objects.get().overridden is False


def test_markup_in_a_question_stays_text(rita: Client, pilot: Collection) -> None:
    question = ask(pilot, "kept", text="<script>alert(1)</script> or what?")
    for path in (PAGE, f"{PAGE}{question.key}/"):
        page = rita.get(path).content.decode()
        assert "<script>alert" not in page
        assert "&lt;script&gt;alert" in page


def test_its_queries_do_not_follow_the_questions(rita: Client, pilot: Collection) -> None:
    ask(pilot, "kept")
    one = queries(lambda: rita.get(PAGE))
    for _ in range(4):
        ask(pilot, "kept")
    assert queries(lambda: rita.get(PAGE)) == one


def test_its_queries_do_not_follow_the_votes(rita: Client, pilot: Collection) -> None:
    question = ask(pilot, "kept")
    path = f"{PAGE}{question.key}/"
    one = queries(lambda: rita.get(path))
    for _ in range(20):
        make_answer(question, stage_of(pilot, "answer"))
    assert queries(lambda: rita.get(path)) == one


def test_questions_whose_votes_differ_are_found_and_read_one_after_the_other(
    rita: Client, pilot: Collection
) -> None:
    differing = [ask(pilot, "kept", text=f"Differing {number}?") for number in range(3)]
    agreed = ask(pilot, "kept", text="Agreed on?")
    votes = [answer.pk for answer in agreed.answers.all()]
    Verdict.objects.filter(question=agreed).update(agreeing=votes)
    page = rita.get(f"{PAGE}?outcome=disagreement").content.decode()
    assert "Votes differ <span>3</span>" in page
    assert page.count("1 of 3 votes agree") == 3
    assert "Agreed on?" not in page
    middle = rita.get(f"{PAGE}{differing[1].key}/?outcome=disagreement").content.decode()
    for neighbour, rel in ((differing[0], "prev"), (differing[2], "next")):
        assert f'rel="{rel}" href="{PAGE}{neighbour.key}/?outcome=disagreement"' in middle
    last = rita.get(f"{PAGE}{differing[2].key}/?outcome=disagreement").content.decode()
    assert 'rel="next"' not in last
    assert (
        f'rel="next" href="{PAGE}{agreed.key}/"'
        in rita.get(f"{PAGE}{differing[2].key}/").content.decode()
    )


def test_a_decision_leads_back_to_the_questions_that_were_being_read(
    rita: Client, pilot: Collection
) -> None:
    question = ask(pilot, "kept")
    address = f"{PAGE}{question.key}/override/?outcome=disagreement"
    answer = send(rita, f"{PAGE}{question.key}/", address, {"decision": "drop", "note": "No."})
    assert answer["Location"] == f"{PAGE}{question.key}/?outcome=disagreement"


def test_a_linked_article_opens_with_what_the_votes_marked_in_it(
    rita: Client, pilot: Collection
) -> None:
    article = pilot.corpus.articles.first()
    text = article_texts(pilot.corpus, [article.title])[article.title]
    span = {"document": article.title, "start": 0, "end": 5, "text": text[:5]}
    question = ask(pilot, "kept", payload={"context": [], "links": [article.title]})
    vote = question.answers.first()
    vote.payload |= {"context": [span]}
    vote.save()
    page = rita.get(f"{PAGE}{question.key}/").content.decode()
    address = f"{PAGE}{question.key}/article/?title={quote(article.title)}"
    assert page.count(f'href="{address}"') == 2
    shown = rita.get(address).content.decode()
    assert f'<mark class="mark-evidence">{escape(text[:5])}</mark>' in shown
    assert rita.get(f"{PAGE}{question.key}/article/?title=No+such+article").status_code == 404


def test_the_vote_after_the_26th_is_shown_too(rita: Client, pilot: Collection) -> None:
    question = make_question(stage_of(pilot, "question"))
    stage = stage_of(pilot, "answer")
    for _ in range(28):
        make_answer(question, stage)
    page = rita.get(f"{PAGE}{question.key}/").content.decode()
    for name in ("Z", "AA", "AB"):
        assert f'<span class="letter">{name}</span>' in page


def test_a_correction_begins_with_the_vote_that_is_released(
    rita: Client, pilot: Collection
) -> None:
    question = make_question(stage_of(pilot, "question"))
    stage = stage_of(pilot, "answer")
    make_answer(question, stage, "binary", yes_no="no")
    agreed = [make_answer(question, stage) for _ in range(2)]
    make_verdict(question, "kept", chosen=agreed[0], agreeing=[each.pk for each in agreed])
    page = rita.get(f"{PAGE}{question.key}/").content.decode()
    assert "<option selected>B</option>" in page


def test_an_answer_without_words_is_named_by_its_type(rita: Client, pilot: Collection) -> None:
    question = make_question(stage_of(pilot, "question"))
    none = make_answer(question, stage_of(pilot, "answer"), "none", spans=[])
    make_verdict(question, "kept", chosen=none, agreeing=[none.pk])
    page = rita.get(f"{PAGE}{question.key}/").content.decode()
    assert 'Keep with answer A<span class="faint" dir="auto">No answer<' in page


def correct(rita: Client, question: Question, **typed: str) -> str:
    """Return the page after a corrected answer to the question was entered."""
    given = {"decision": "corrected", "base": "A", "note": "The votes miss it.", **typed}
    return decide(rita, question, given, follow=True).content.decode()


def test_a_corrected_answer_is_released_and_is_no_vote(
    rita: Client, pilot: Collection, tmp_path: Path
) -> None:
    question = ask(pilot, "kept")
    before = Verdict.objects.get()
    words = question.seed.seed_paragraphs.get().paragraph.text[4:20].strip()
    page = correct(rita, question, type="span", text=words)
    assert "Released answer, entered by owner" in page
    assert "kept it with a corrected answer" in page
    verdict = Verdict.objects.get()
    assert verdict.chosen is not None
    assert (verdict.outcome, verdict.chosen.corrected_by) == ("kept", "owner")
    [span] = verdict.chosen.payload["spans"]
    assert (span["document"], span["text"]) == ("main", words)
    assert verdict.chosen.payload["context"] == before.chosen.payload["context"]  # type: ignore[union-attr]
    [seed] = [one for one in records(pilot) if one["questions"]]
    [record] = seed["questions"]
    assert chosen_vote(record) == record["correction"]
    assert len(record["votes"]) == 3
    assert [row["corrected"] for row in vote_rows([seed])] == [False, False, False, True]
    assert write_votes(tmp_path / "votes.parquet", [seed]) == 3
    decide_collection(pilot, timezone.now())
    assert Verdict.objects.get().chosen == verdict.chosen
    send(
        rita,
        f"{PAGE}{question.key}/",
        f"{PAGE}{question.key}/override/",
        {"decision": "votes", "note": "Back."},
    )
    assert Verdict.objects.get().n_votes == 3


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        ({"type": "span", "text": "words of no text"}, "stands in none of the texts"),
        ({"type": "span", "text": " "}, "Write the words of the corrected answer"),
        ({"type": "value", "text": "many"}, "Write the number in digits"),
        ({"type": "binary", "text": "perhaps"}, "Write yes or no"),
        ({"type": "bad", "text": "x"}, "Choose what type of answer"),
        ({"type": "none", "base": "Z"}, "Choose the vote whose answer is corrected"),
        ({"type": "none", "note": ""}, "Say in the note why"),
    ],
)
def test_what_is_no_corrected_answer_is_refused_and_stays_typed(
    rita: Client, pilot: Collection, typed: dict[str, str], sentence: str
) -> None:
    question = ask(pilot, "kept")
    page = correct(rita, question, **typed)
    assert sentence in page
    assert f'aria-describedby="correct-help">{typed.get("text", "")}</textarea>' in page
    assert not Answer.objects.exclude(corrected_by="").exists()


def test_a_correction_that_was_typed_and_not_chosen_stays_in_sight(
    rita: Client, pilot: Collection
) -> None:
    page = correct(rita, ask(pilot, "kept"), decision="", type="span", text="in 1928")
    assert "Choose an answer to keep the question with" in page
    assert "<details open><summary>The corrected answer" in page
    assert ">in 1928</textarea>" in page


def differing(collection: Collection, number: int) -> list[Question]:
    """Return as many questions whose three votes differ and that nobody has decided by hand."""
    return [ask(collection, "dropped", text=f"Which one is the {n}th?") for n in range(number)]


def test_one_key_decides_each_of_what_differs_and_goes_on(rita: Client, pilot: Collection) -> None:
    first, second = differing(pilot, 2)
    ask(pilot)
    payments = list(Payment.objects.order_by("pk").values())
    list_page = f"{PAGE}?outcome=adjudication"
    assert "To adjudicate <span>2</span>" in rita.get(list_page).content.decode()
    page = rita.get(f"{PAGE}{first.key}/?outcome=adjudication").content.decode()
    assert 'data-key="a"' in page
    assert 'data-key="b"' in page
    # The third says that the question is bad: nothing can be kept with it.
    assert 'data-key="c"' not in page
    assert "dashboard/adjudicate" in page

    address = f"{PAGE}{first.key}/override/?outcome=adjudication"
    page = address.replace("override/", "")
    answer = send(rita, page, address, {"by_key": "1", "decision": "B", "note": ""})
    assert answer["Location"] == f"{PAGE}{second.key}/?outcome=adjudication"
    logged = Override.objects.get()
    assert (logged.by, logged.note) == ("owner", "Adjudicated: the votes differed.")
    assert logged.new_chosen == first.answers.order_by("pk")[1]

    address = f"{PAGE}{second.key}/override/?outcome=adjudication"
    page = address.replace("override/", "")
    answer = send(rita, page, address, {"by_key": "1", "decision": "drop", "note": "Both guess."})
    assert answer["Location"] == list_page
    assert Override.objects.latest("pk").note == "Both guess."
    assert "To adjudicate <span>0</span>" in rita.get(list_page).content.decode()
    assert list(Payment.objects.order_by("pk").values()) == payments


def test_nothing_is_decided_by_a_key_elsewhere(rita: Client, pilot: Collection) -> None:
    (question,) = differing(pilot, 1)
    assert "adjudicate" not in rita.get(f"{PAGE}{question.key}/").content.decode()
    send(
        rita,
        f"{PAGE}{question.key}/",
        f"{PAGE}{question.key}/override/",
        {"by_key": "1", "decision": "A"},
    )
    assert not Override.objects.exists()


def test_the_desk_asks_as_much_of_the_database_whatever_waits(
    rita: Client, pilot: Collection
) -> None:
    first, *_ = differing(pilot, 3)
    addresses = f"{PAGE}?outcome=adjudication", f"{PAGE}{first.key}/?outcome=adjudication"
    few = [queries(lambda at=at: rita.get(at)) for at in addresses]
    differing(pilot, 30)
    assert [queries(lambda at=at: rita.get(at)) for at in addresses] == few


def several(rita: Client, form: dict[str, Any], decision: str, note: str = "Off topic.") -> str:
    """Return the list after a button below it was pressed."""
    form = {**form, "decision": decision, "note": note}
    return str(rita.post(f"{PAGE}decide/", form, follow=True).content.decode())


def ticked(rita: Client) -> dict[str, Any]:
    """Return the form below the list with every question ticked."""
    page = rita.get(PAGE).content.decode()
    return {"question": re.findall(r'name="question" value="([\w.]+)"', page)}


def test_several_are_excluded_or_given_back_but_not_from_a_page_out_of_date(
    rita: Client, pilot: Collection
) -> None:
    questions = [ask(pilot, "kept") for _ in range(3)]
    ask(pilot)
    old = ticked(rita)
    assert len(old["question"]) == 3
    assert "Not done for 3. Say in the note why" in several(rita, old, "drop", " ")
    decide(rita, questions[0], {"decision": "drop", "note": "Odd."})
    page = several(rita, old, "drop")
    assert "Done for 2." in page
    assert "Not done for 1. This has changed since the page was shown" in page
    assert [*Verdict.objects.values_list("outcome", flat=True)] == ["dropped"] * 3
    assert Override.objects.count() == 3
    assert "Not done for 3. This has changed" in several(rita, old, "drop")
    now = ticked(rita)
    assert "Done for 3." in several(rita, now, "votes", "They know better.")
    assert not Verdict.objects.filter(overridden=True).exists()
    assert "Not done for 3. It follows the votes already" in several(rita, ticked(rita), "votes")
    for form, decision in (({}, "drop"), (now, "keep"), ({"question": ["none.", "x"]}, "drop")):
        assert "Tick something in the list" in several(rita, form, decision)


def test_the_list_is_sorted_and_one_goes_on_in_its_order(rita: Client, pilot: Collection) -> None:
    first, second, third = (ask(pilot, "kept") for _ in range(3))
    verdict = second.verdict
    verdict.agreeing = [answer.pk for answer in second.answers.all()]
    verdict.save()
    Verdict.objects.filter(question=third).update(n_votes=9)
    ask(pilot)
    for sort, expected in {
        "": [first, second, third],
        "newest": [third, second, first],
        "agreement": [third, first, second],
        "votes": [third, first, second],
        "odd": [first, second, third],
    }.items():
        query = f"?sort={sort}&outcome=kept"
        page = rita.get(PAGE + query).content.decode()
        places = [page.find(f'href="{PAGE}{question.key}/') for question in expected]
        assert sorted(places) == places, sort
        page = rita.get(f"{PAGE}{expected[0].key}/{query}").content.decode()
        assert f'rel="next" href="{PAGE}{expected[1].key}/' in page
        assert 'rel="prev"' not in page
    query = f"?sort=newest&outcome={ADJUDICATION}"
    assert "Next" in rita.get(f"{PAGE}{third.key}/{query}").content.decode()
    form = {"decision": "drop", "by_key": "1"}
    reply = send(rita, f"{PAGE}{third.key}/{query}", f"{PAGE}{third.key}/override/{query}", form)
    assert reply["Location"].startswith(f"{PAGE}{first.key}/")


def test_the_list_is_taken_away_with_who_wrote_what(rita: Client, pilot: Collection) -> None:
    question = ask(pilot, "kept", text="=1+1, or is it?")
    ask(pilot)
    reply = rita.get(f"{PAGE}?outcome=kept&as=csv")
    assert reply["Content-Disposition"] == 'attachment; filename="pilot-questions.csv"'
    (line,) = csv.DictReader(io.StringIO(reply.content.decode()))
    assert (line["question"], line["text"]) == (question.key, "'=1+1, or is it?")
    assert (line["verdict"], line["votes"], line["agreeing"]) == ("kept", "3", "1")
    assert (line["worker"], line["called"]) == ("1", "Worker 1")
