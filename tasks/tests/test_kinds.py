"""Every kind of stage is found by its name, and refuses the table of another."""

import pytest

from collector.protocols.loading import ProtocolError, get_protocol
from collector.protocols.stage_tables import QuestionTable, WritingChecks
from tasks.models import Lease
from tasks.tests.making import NOW
from tasks.work.kinds.kind import HandedInTogether, checks_as, entries_of, table_as
from tasks.work.kinds.registry import get_kind, kind_of, kinds_that_pair

pytestmark = pytest.mark.pure


def test_an_unknown_kind_is_refused_by_name():
    with pytest.raises(ProtocolError, match="There is no kind 'essay' of stage"):
        get_kind("essay")


def test_a_kind_that_finds_another_table_than_it_needs_says_which_to_extend():
    table = get_protocol("quac").parameters().stages()["dialog"]
    with pytest.raises(ProtocolError, match=r"QuestionTable .*extend it"):
        table_as(table, QuestionTable)


def test_checks_that_a_kind_needs_and_a_protocol_lacks_are_named():
    with pytest.raises(ProtocolError, match=r"'quac' needs .*checks.* WritingChecks"):
        checks_as(get_protocol("quac").parameters(), WritingChecks)


def test_only_dialogs_bring_two_workers_together():
    assert kinds_that_pair() == ["dialog"]


def test_a_dialog_has_two_roles_and_other_stages_have_none():
    stages = get_protocol("quac").parameters().stages()
    roles = {name: kind_of(table).role_qualifications(table) for name, table in stages.items()}
    assert roles.pop("dialog") == ("student_qualification", "teacher_qualification")
    assert set(roles.values()) == {()}


def test_answers_are_given_one_by_one_only_where_the_kind_keeps_them():
    with pytest.raises(HandedInTogether, match="'question'"):
        get_kind("question").give_answer(Lease(), "0", {}, [], NOW)


@pytest.mark.parametrize("junk", [None, 3, [], {}, {"pairs": 1}, {"pairs": [None, 3, "x"]}])
def test_what_is_no_list_of_objects_holds_no_entries(junk):
    assert entries_of(junk, "pairs") == []


def test_a_pair_may_be_skipped_and_nothing_else():
    tables = get_protocol("hotpotqa").parameters().stages()
    skips = {name: kind_of(table).skips(table) for name, table in tables.items()}
    assert skips["question"].per_hit == tables["question"].max_skips
    assert skips["human_performance"].per_hit == 0
