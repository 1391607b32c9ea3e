"""Every form of the requester's and the workers' pages: it refuses a page out of date, or says why
it needs no version.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from annotation.dashboard.tests import test_candidate_sets, test_difficulty, test_partner_reports
from annotation.dashboard.tests.making import make_attempt, make_confirmed, make_question
from annotation.dashboard.tests.test_questions import ask
from annotation.models import Exclusion, SampledQuestion, Statement, Verdict
from annotation.release.facts import statements_of
from collector.candidates.tests.making import make_pairs, make_towns
from collector.models import Collection
from collector.protocols.creation import parameters_of
from common.tests.forms import hidden_in, posting_routes
from tasks.models import Grant, PartnerReport, Rejection, Unit
from tasks.people import trusted
from tasks.tests.making import make_collection, make_corpus, stage_of

pytestmark = pytest.mark.django_db
ROOT = Path(__file__).resolve().parents[3]
PILOT = "/collections/pilot/"


@dataclass(frozen=True)
class Shown:
    """A page that two people have open, what the first and the second send, and what is stored.

    page_after: where the form is found after the first, if elsewhere.
    """

    page: str
    address: str
    first: dict[str, Any]
    second: dict[str, Any]
    stored: Callable[[], Any]
    page_after: str = ""


def budget(**_: Any) -> Shown:
    """The budget of a collection."""
    made = make_collection(slug="pilot")
    of = Collection.objects.filter(pk=made.pk).values_list("budget_cents", flat=True)
    return Shown(PILOT, f"{PILOT}budget/", {"budget": "5000"}, {"budget": "2000"}, of.get)


def groups(monkeypatch: pytest.MonkeyPatch, **_: Any) -> Shown:
    """The groups that may work on a collection."""
    made = make_collection(people__groups=["Class A", "Class B"])
    monkeypatch.setattr(trusted, "check_groups", lambda _: None)
    page = f"{PILOT}people/"
    return Shown(
        page,
        f"{page}groups/",
        {"group": ["Class A"], "why": "They know it."},
        {"group": [], "why": "Everybody may."},
        lambda: parameters_of(Collection.objects.get(pk=made.pk)).people.groups,
    )


def marks(rita: Client, **_: Any) -> Shown:
    """What a worker's sampled questions were read as."""
    test_difficulty.drawn(rita)
    row = SampledQuestion.objects.filter(worker_id="wada").first()
    assert row
    page = f"{PILOT}difficulty/workers/wada/"
    others = {f"hops-{each.pk}": "multi" for each in SampledQuestion.objects.all()}
    return Shown(
        page,
        f"{page}mark/",
        {f"hops-{row.pk}": "single"},
        {**others, "decision": "multi"},
        lambda: list(SampledQuestion.objects.order_by("pk").values_list("hops", flat=True)),
    )


def statements(**_: Any) -> Shown:
    """What only a requester can say of a dataset."""
    made, page = make_collection(slug="pilot"), f"{PILOT}releases/said/"
    first, second = {"uses": "To test.", "limits": "Small."}, {"uses": "To train."}
    return Shown(
        page, page, first, second, lambda: (statements_of(made), Statement.objects.count())
    )


def verdict(**_: Any) -> Shown:
    """A decision about a question by hand."""
    question = ask(make_collection(slug="pilot"), "kept")
    page = f"{PILOT}questions/{question.key}/"
    return Shown(
        page,
        f"{page}override/",
        {"decision": "B", "note": "It says more."},
        {"decision": "drop", "note": "Odd."},
        Verdict.objects.values_list("outcome", "chosen").get,
    )


def qualification(**_: Any) -> Shown:
    """A decision about a qualification."""
    make_attempt(stage_of(make_collection(slug="pilot"), "question_qualification"))
    page = f"{PILOT}qualification/question_qualification/1/"
    return Shown(
        page,
        f"{page}decide/",
        {"decision": "grant", "note": "Fine."},
        {"decision": "decline", "note": "Copied."},
        Grant.objects.values_list("state", "note").get,
    )


def partner(report: PartnerReport, **_: Any) -> Shown:
    """A decision about what one partner says of the other."""
    page = test_partner_reports.address("partners", report)
    return Shown(
        page,
        f"{page}decide/",
        {"report": report.pk, "decision": "warn", "words": "Be kind."},
        {"report": report.pk, "decision": "nothing"},
        PartnerReport.objects.values_list("decision", "words").get,
        f"{page}?show=decided",
    )


def pay(rita: Client, **_: Any) -> Shown:
    """What is decided about the pay of work."""
    work = make_confirmed(make_collection(slug="pilot", pay__approve_after_hours=48.0))
    page = f"{PILOT}money/work/{work.session.pk}/"
    proposal = {"decision": "propose", "words": "Nothing but the letter x."}
    rita.post(f"{page}decide/", proposal)
    return Shown(
        page,
        f"{page}decide/",
        {"decision": "withdraw", "words": "It is fine."},
        proposal,
        lambda: list(Rejection.objects.order_by("pk").values_list("state", "reason")),
    )


def candidates(rita: Client, tmp_path: Path, settings: Any, **_: Any) -> Shown:
    """A decision about a set that pairs are drawn from."""
    settings.HOME = tmp_path
    made = make_pairs(make_towns(tmp_path))
    rita.post(f"{test_candidate_sets.SETS}add/", {"defaults": "on"})
    of = made.candidate_sets.filter(role="bridge", name="Towns")
    page = f"{test_candidate_sets.SETS}{of.get().pk}/"
    kept, dropped = {"decision": "kept"}, {"decision": "dropped"}
    return Shown(page, f"{page}decide/", kept, dropped, of.values_list("state").get)


def left_out(**_: Any) -> Shown:
    """Whether everything by a worker is left out."""
    make_question(stage_of(make_collection(slug="pilot"), "question"))
    page = f"{PILOT}workers/1/"
    out, back = {"act": "out", "why": "Copied."}, {"act": "back", "why": "Quoted."}
    of = Exclusion.objects.values_list("back_at")
    return Shown(page, f"{page}leave-out/", out, back, lambda: list(of.all()))


def more_seeds(**_: Any) -> Shown:
    """Seeds that are chosen."""
    made = make_collection(make_corpus(60))
    page, form = f"{PILOT}seeds/", {"count": "2"}
    return Shown(page, f"{page}choose/", form, form, made.seeds.count)


def no_seeds(**_: Any) -> Shown:
    """Seeds that are all let go."""
    made = make_collection(make_corpus(60))
    Unit.objects.all().delete()
    Collection.objects.update(state="draft")
    seed = made.seeds.order_by("pk")[0]
    page = f"{PILOT}seeds/"
    return Shown(page, f"{page}drop/", {"seed": seed.key}, {}, made.seeds.count)


REFUSE = {
    "raise_budget": budget,
    "choose_groups": groups,
    "mark_sample": marks,
    "statements": statements,
    "override": verdict,
    "decide": qualification,
    "decide_report": partner,
    "decide_pay": pay,
    "decide_set": candidates,
    "leave_out": left_out,
    "choose_seeds": more_seeds,
    "drop_seeds": no_seeds,
}
# These carry versions of their own: the test of each, by its file.
REFUSE_ELSEWHERE = {
    "change": "annotation/dashboard/tests/test_settings_page.py"
    "::test_what_somebody_else_saved_meanwhile_is_told",
    "label_scheme": "annotation/dashboard/tests/test_label_scheme.py"
    "::test_what_somebody_else_saved_meanwhile_is_not_written_over",
    "text": "annotation/dashboard/tests/test_instructions.py"
    "::test_a_text_changed_meanwhile_loses_nobody_s_words",
    "decide_questions": "annotation/dashboard/tests/test_questions.py"
    "::test_several_are_excluded_or_given_back_but_not_from_a_page_out_of_date",
    "keep_candidates": "annotation/dashboard/tests/test_candidate_sets.py"
    "::test_all_undecided_sets_are_kept_at_once_unless_they_are_others_by_now",
    "hit_draft": "tasks/tests/test_entry.py::test_a_second_tab_is_told_and_shown_the_newer_text",
}
_READS = "It changes nothing."
_STATE = "Its button names the state that it leads to: sent again, it is there already."
_ONCE = "Refused, or the same as once, when it was done already."
_ADDS = "It only adds, and knows the same form when it is sent again."
_OWN_WORDS = "A name decides nothing, and is seen where it was given: the last word counts."
_OWN = "It is one person's own, and the last word counts."
NEED_NONE = {
    "health": _READS,
    "metrics": _READS,
    "doctor": _READS,
    "report": _READS,
    "text_version": "It shows an earlier version, whose form is sent as `text`.",
    "preview_article": _READS,
    "preview_check": _READS,
    "preview_search": _READS,
    "hit_advice": _READS,
    "hit_article": _READS,
    "hit_search": _READS,
    "sign_in": _STATE,
    "sign_out": _STATE,
    "publish": _STATE,
    "open_stage": _STATE,
    "pause": _STATE,
    "close_stage": _STATE,
    "finish": _STATE,
    "reopen": _STATE,
    "archive": _STATE,
    "resolve": _STATE,
    "end_baseline": _STATE,
    "end_rehearsal": _STATE,
    "split_now": _STATE,
    "try_candidate": "Anybody says whether a pair works; its button names what it leads to.",
    "take_back": "It names the act that it takes back by its time, and leaves later ones alone.",
    "drop": "The short name of the draft is typed, and it is gone after.",
    "remove_corpus": "Its short name is typed, and it is gone after.",
    "remove_upload": "It names the row, whose documents are gone after.",
    "remove_document": "It names the row, which is gone after.",
    "answer_report": _ONCE,
    "decide_bonus": _ONCE,
    "decide_several": _ONCE,
    "compensate": _ONCE,
    "begin_baseline": _ONCE,
    "begin_judging": _ONCE,
    "begin_rehearsal": _ONCE,
    "draw_questions": _ONCE,
    "make_release": _ONCE,
    "try_again": _ONCE,
    "find_bonuses": _ONCE,
    "let_in": _ONCE,
    "name_workers": _OWN_WORDS,
    "name_worker": _OWN_WORDS,
    "make_account": "A name is given once.",
    "add_candidates": "It only adds: a set of that name that is there stays as it is.",
    "duplicate": _ADDS,
    "give_bonus": _ADDS,
    "new_collection": _ADDS,
    "upload": _ADDS,
    "upload_into": _ADDS,
    "hit_consent": "It carries the version of the text, and asks again about another one.",
    "hit_submit": "Handed in twice is as once.",
    "hit_answer": "Handed in twice is as once.",
    "hit_extend": "A lease is extended once.",
    "hit_instructions_seen": "It names the version that was seen.",
    "hit_preferences": _OWN,
    "hit_problem": "The same words about a HIT count once.",
}


def test_every_form_refuses_a_page_out_of_date_or_needs_no_version() -> None:
    listed = [*REFUSE, *REFUSE_ELSEWHERE, *NEED_NONE]
    assert len(listed) == len(set(listed))
    assert set(listed) == posting_routes("collector.urls")


def test_what_is_proved_elsewhere_is() -> None:
    for place in REFUSE_ELSEWHERE.values():
        path, name = place.split("::")
        assert f"def {name}(" in (ROOT / path).read_text("utf-8"), place


@pytest.mark.parametrize("name", REFUSE)
def test_of_two_with_the_page_open_the_first_is_kept_and_the_second_refused(
    name: str,
    rita: Client,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    settings: Any,
    request: pytest.FixtureRequest,
) -> None:
    given = {"rita": rita, "monkeypatch": monkeypatch, "tmp_path": tmp_path, "settings": settings}
    if name == "decide_report":
        given["report"] = request.getfixturevalue("report")
    shown = REFUSE[name](**given)
    before, old = shown.stored(), hidden_in(rita.get(shown.page).content.decode(), shown.address)
    assert old
    rita.post(shown.address, old | shown.first)
    first = shown.stored()
    assert first != before
    refused = rita.post(shown.address, old | shown.second, follow=True)
    assert shown.stored() == first
    words = ("changed since the page was shown", "changed something meanwhile")
    assert any(each in refused.content.decode() for each in words)
    # Who has looked may go on; letting the seeds go that were chosen since takes another look.
    page = rita.get(shown.page_after or shown.page).content.decode()
    now = hidden_in(page, shown.address)
    assert now
    assert now != old
    rita.post(shown.address, now | shown.second)
    assert shown.stored() != first


report = test_partner_reports.report
