"""What no collection could be collected with is refused when it is created, in a sentence."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from io import StringIO
from math import inf, nan
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from collector.graph.tests.making import make_islands
from collector.models import Collection
from collector.protocols.creation import parameters_of, revise
from collector.protocols.loading import ProtocolError, all_protocols, get_protocol
from common.actions import ActionError

FIELDS = [{"name": "words", "label": "Your question"}, {"name": "answer", "label": "Its answer"}]
FIFTY_A_WORD = "10 times min_question_words (5,000) must not be more than max_question_characters"
NOTHING_TO_EXAMINE = (
    r"answer_qualification.items_per_hit \(4\) must not be more than question_quali"
)


@pytest.mark.parametrize(
    ("protocol", "changed", "sentence"),
    [
        # Nobody can hand in.
        ("iirc", {"question.questions_per_hit": 1}, r"multi_link_questions \(2\) must not be more"),
        (
            "iirc",
            {"question.multi_link_min_links": 11},
            "must not be more than seeds.min_links, 10",
        ),
        (
            "iirc",
            {"checks.min_question_words": 500},
            FIFTY_A_WORD.replace("(", r"\(").replace(")", r"\)"),
        ),
        (
            "bookqa",
            {"checks.min_question_words": 21},
            "ten characters for each of checks.min_quest",
        ),
        ("squad", {"checks.max_question_characters": 29}, "10 times min_question_words"),
        ("squad", {"question.sample_questions": 9}, "question.sample_questions says what the prot"),
        ("iirc", {"answer.sample_questions": 9}, "answer.sample_questions says what the protocol"),
        ("rag", {"checks.min_searches": 1000}, "checks.min_searches: Input should be less than"),
        # What is handed in has no room.
        ("hotpotqa", {"checks.max_reason_characters": 1001}, r"more than 1,000: lower it\."),
        ("rag", {"checks.max_reason_characters": 1001}, r"more than 1,000: lower it\."),
        # Nobody can qualify.
        ("iirc", {"answer_qualification.items_per_hit": 4}, NOTHING_TO_EXAMINE),
        ("quac", {"teacher_qualification.items_per_hit": 4}, "more than student_qualification"),
        (
            "iirc",
            {"question.requires": "answer_qualification"},
            "no qualification that comes before",
        ),
        (
            "quac",
            {"dialog.requires_student": "teachers"},
            r"take one \(student_qualification, teac",
        ),
        # Everything is dropped, or nothing is drawn.
        ("quac", {"dialog.max_questions": 2}, r"dialog: min_pairs \(3\) must not be more than max"),
        ("iirc", dict.fromkeys(["splits.train", "splits.dev", "splits.test"], 0), "not all be 0"),
        ("quac", {"splits.dev": -1}, "splits.dev: Input should be greater than or equal to 0"),
        (
            "hotpotqa",
            {"human_performance.sample_splits": ["test"]},
            "take some of train-easy, trai",
        ),
        ("iirc", {"human_performance.sample_splits": []}, "at least 1 item"),
        ("bookqa", {"label.sample_splits": ["tset"]}, "take some of train, dev, test"),
        ("quac", {"seeds.category_keywords": [""]}, "should have at least 1 character"),
        # Two ends of a range.
        ("iirc", {"seeds.min_characters": 3501}, r"seeds: min_characters \(3,501\) must not be"),
        ("quac", {"seeds.min_tokens": 701}, "must not be more than max_tokens, 700"),
        ("quac", {"seeds.min_paragraphs": 9}, "must not be more than max_paragraphs"),
        ("quac", {"seeds.min_words_per_sentence": 41}, "must not be more than max_words_per"),
        ("bookqa", {"seeds.min_summary_words": 3001}, "must not be more than max_summary_words"),
        ("bookqa", {"ranking.beta": 0.6}, "must not be more than alpha"),
        ("bookqa", {"report.min_items": 9}, "must not be more than min_items"),
        ("squad", {"seeds.min_characters": 3001}, "must not be more than max_characters"),
        ("rag", {"seeds.min_characters": 2501}, "must not be more than max_characters"),
        ("hotpotqa", {"difficulty.min_sample": 11}, "must not be more than max_sample"),
        ("hotpotqa", {"contexts.candidates": 9}, "must not be more than candidates, 9"),
        # Money and time.
        ("iirc", {"pay.fee_percent": -1}, "pay.fee_percent: Input should be greater than or equal"),
        ("iirc", {"pay.min_fee_cents": -1}, "pay.min_fee_cents: Input should be greater than or"),
        ("iirc", {"pay.currency": " "}, "pay.currency: String should have at least 1"),
        ("iirc", {"question.reward_cents": 10**10}, "question.reward_cents: Input should be less"),
        ("quac", {"dialog.turn_cents": [10**10]}, "dialog.turn_cents.0: Input should be less than"),
        ("quac", {"dialog.turn_cents": [2, 1]}, "must not fall from turn to turn"),
        ("hotpotqa", {"question.bonuses.top_cents": [10**10]}, "top_cents.0: Input should be less"),
        ("iirc", {"question.allotted_minutes": 10**12}, "less than or equal to 525600"),
        (
            "iirc",
            {"question.expected_minutes": 1000},
            "must not be more than allotted_minutes, 120",
        ),
        ("iirc", {"question.title": " "}, "question.title: String should have at least"),
        ("iirc", {"question.title": "Write {n} questions"}, "title has {n}, and that is no number"),
        ("iirc", {"question.description": "Up to {questions:x}"}, "is no number of the stage"),
        ("iirc", {"question.title": "For {qualifies:one|more}"}, "is no number of the stage"),
        ("iirc", {"question.redundancy.train": 10**5}, "less than or equal to 10000"),
        ("iirc", {"question.title": "a\0b"}, "title holds a character that is no text"),
        ("bookqa", {"label.scheme_source": "\ud800"}, "source holds a character that is no text"),
        # What the protocol's own code counts on.
        ("iirc", {"question.kind": "answer"}, "question.kind says what the protocol is"),
        (
            "iirc",
            {"question.items_from": "answer"},
            "question.items_from says what the protocol is",
        ),
        ("iirc", {"protocol.version": 2}, "protocol.version says what the protocol is"),
        ("bookqa", {"question.fields": FIELDS}, "needs a field question, the first, and a field"),
        ("bookqa", {"answer.fields": FIELDS}, "answer.fields needs a field answer, the first"),
        ("hotpotqa", {"difficulty.reader": "heavy"}, "Input should be 'light' or 'neural'"),
    ],
)
def test_what_nothing_would_come_of_is_refused(
    protocol: str, changed: dict[str, object], sentence: str
) -> None:
    with pytest.raises(ProtocolError, match=sentence):
        get_protocol(protocol).parameters(changed)


def _numbers(values: Mapping[str, Any], before: str = "") -> Iterator[str]:
    for name, value in values.items():
        if isinstance(value, dict):
            yield from _numbers(value, f"{before}{name}.")
        elif isinstance(value, int | float) and not isinstance(value, bool):
            yield before + name


@pytest.mark.parametrize("protocol", [one.name for one in all_protocols()])
def test_no_number_is_below_zero_without_end_or_larger_than_a_column(protocol: str) -> None:
    found = get_protocol(protocol)
    taken = []
    for key in _numbers(found.parameters().model_dump(mode="json")):
        for value in (-1, -(10**12), 10**12, nan, inf, -inf, 1e300):
            with suppress(ProtocolError):
                found.parameters({key: value})
                taken.append((key, value))
    assert taken == []


@pytest.mark.django_db
def test_the_command_and_the_page_refuse_alike(tmp_path: Path) -> None:
    make_islands(tmp_path)
    wrong = {"question.expected_minutes": 121}
    with pytest.raises(CommandError, match="must not be more than allotted_minutes, 120"):
        call_command(
            "create_collection",
            "one",
            protocol="iirc",
            corpus="islands",
            set=[f"{key}={value}" for key, value in wrong.items()],
        )
    assert not Collection.objects.exists()
    call_command("create_collection", "one", protocol="iirc", corpus="islands", stdout=StringIO())
    collection = Collection.objects.get()
    with pytest.raises(ActionError, match="must not be more than allotted_minutes, 120"):
        revise(collection, wrong, why="slower", by="rita", now=timezone.now())


@pytest.mark.django_db
def test_a_collection_made_before_this_was_refused_is_still_read(tmp_path: Path) -> None:
    make_islands(tmp_path)
    call_command("create_collection", "one", protocol="iirc", corpus="islands", stdout=StringIO())
    collection = Collection.objects.get()
    collection.parameters["question"]["expected_minutes"] = 121
    assert parameters_of(collection).stages()["question"].expected_minutes == 121
