"""Whatever is done before, while and after releases are made, none tells a withheld answer."""

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from django.db import transaction
from django.test import override_settings
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st

from annotation.models import Context, SplitAssignment, ToldQuestion, Verdict
from annotation.protocols.hotpotqa.file_format import WITHHELD, settings_of
from annotation.protocols.hotpotqa.tests.pairs import ask, give_context, town
from annotation.release.publish_release import publish_release
from annotation.release.release_files import Watcher
from annotation.release.write_log import work_digest
from annotation.splits.assignment import make_splits
from annotation.splits.cross_validation import Facts
from annotation.tests.making import NOW, make_collection, make_corpus
from common.actions import ActionError
from tasks.models import Question, Submission

pytestmark = pytest.mark.django_db
# No text of the pair is in the full wiki's context, so that the answer's word tells the answer.
WEIGHTS = {"train_hard": 1, "dev": 1, "test_distractor": 0, "test_fullwiki": 2}
ASK, KEEP, DROP, PLACE = "ask", "keep", "drop", "place"
# A release is made, and a question kept, between what placing reads and what it stores.
PLACE_LATE = "place late"
Acts = Sequence[str]
acts = st.lists(st.sampled_from((ASK, ASK, KEEP, DROP, PLACE, PLACE_LATE)), max_size=4)
# What is done before a release, after it was begun, after its rows were read, and while another
# one of the same moment is made.
releases = st.lists(st.tuples(acts, acts, acts, st.booleans()), min_size=2, max_size=3)


class Moments:
    """A collection whose clock goes on with every act."""

    def __init__(self, folder: Path) -> None:
        self.collection = make_collection(
            make_corpus(),
            protocol="hotpotqa",
            parameters={f"splits.{name}": weight for name, weight in WEIGHTS.items()},
        )
        self.folder, self.n_acts = folder, 0
        self.others = [town(self.collection.corpus, f"Other{number}") for number in range(3)]
        self.after_begin: list[Acts] = []
        self.is_late = False

    def do(self, names: Acts) -> None:
        """Do each of these acts, one after the other."""
        for name in names:
            self.n_acts += 1
            now = NOW + timedelta(minutes=self.n_acts)
            if name == ASK:
                self.ask(now)
            elif name in (PLACE, PLACE_LATE):
                self.is_late = name == PLACE_LATE
                make_splits(self.collection, now)
            else:
                told = ("waiting", "dropped") if name == KEEP else ("kept",)
                row = Verdict.objects.filter(outcome__in=told).order_by("-pk").first()
                if row:
                    row.outcome = "kept" if name == KEEP else "dropped"
                    row.chosen = row.question.answers.get() if name == KEEP else None
                    row.save()

    def ask(self, now: Any) -> None:
        """Have a question handed in, on which nothing is decided yet."""
        pair = [town(self.collection.corpus, f"Quiet{self.n_acts}{letter}") for letter in "AB"]
        question = ask(self.collection, pair, f"Who founded number {self.n_acts}?", "bridge")
        Question.objects.filter(pk=question.pk).update(created_at=now)
        Submission.objects.filter(questions=question).update(raw=answer_of(question))
        Verdict.objects.filter(question=question).update(outcome="waiting", chosen=None)

    def release(self, begun: Acts, read: Acts, *, twice: bool) -> None:
        """Make a release as its job does, with these acts while it is made; it may be refused."""
        self.n_acts += 1
        now = NOW + timedelta(minutes=self.n_acts)
        self.after_begin.append(begun)

        def say(step: str) -> None:
            if step == "Writing the official files":
                self.do(read)
                if twice:
                    self.release([], [], twice=False)

        make_splits(self.collection, now)
        with suppress(ActionError):
            publish_release(self.collection, None, now, Watcher(say=say))

    def facts_of(self, _: Any, rows: Iterable[Question]) -> dict[int, Facts]:
        """Judge every question as hard."""
        if self.is_late:
            self.is_late = False
            self.release([], [], twice=False)
            self.do([KEEP])
        return {row.pk: Facts(False, False, 1.0) for row in rows}

    def find_contexts(self, *_: Any) -> int:
        """Do what is done after a release was begun, and store what is read beside questions."""
        self.do(self.after_begin.pop())
        pairs = Question.objects.filter(split_assignment__isnull=False, verdict__outcome="kept")
        for question in pairs:
            rows = question.seed.seed_paragraphs.order_by("position")
            pair = [row.paragraph for row in rows]
            for setting in settings_of(question.split_assignment.split):
                if not Context.objects.filter(question=question, setting=setting).exists():
                    give_context(
                        question,
                        setting,
                        [*self.others, *pair] if setting == "distractor" else self.others,
                    )
        return 0

    def leaks(self) -> list[str]:
        """Return what some public file tells of questions that some release withholds."""
        public = "\n".join(
            words_of(path)
            for release in self.folder.iterdir()
            if not release.name.endswith("-private")
            for path in release.rglob("*")
            if path.is_file()
        )
        golds = self.folder.glob("*-private/hotpot_test_*.json")
        ids = {item["question"] for path in golds for item in json.loads(path.read_text())}
        hidden = Question.objects.filter(text__in=ids)
        return [
            question.text
            for question in hidden
            if answer_of(question) in public or work_digest(answer_of(question)) in public
        ]


def answer_of(question: Question) -> str:
    """Return the word that nothing but the answer's passage and the answer holds."""
    (marked,) = question.answers.get().payload["spans"]
    return str(marked["text"])


def words_of(path: Path) -> str:
    """Return every word of a file, those of a Parquet file read out of it."""
    from pyarrow import parquet

    if path.suffix == ".parquet":
        return json.dumps(parquet.read_table(path).to_pylist(), ensure_ascii=False)
    return path.read_text("utf-8")


@contextmanager
def at_first() -> Iterator[Moments]:
    """Yield a collection on which nothing was done; nothing of it stays."""
    with TemporaryDirectory() as name, transaction.atomic(), pytest.MonkeyPatch.context() as patch:
        with override_settings(RELEASES=name):
            moments = Moments(Path(name))
            patch.setattr("annotation.splits.assignment.facts_of", moments.facts_of)
            patch.setattr("annotation.release.publish_release.find_contexts", moments.find_contexts)
            yield moments
        transaction.set_rollback(True)


@settings(max_examples=15, deadline=None, derandomize=True, phases=[Phase.explicit, Phase.generate])
@given(releases)
# Handed in while a release is made, kept and placed afterwards.
@example([([ASK, KEEP], [ASK] * 4, [], False), ([KEEP] * 4, [], [], False)])
# Kept and placed after the rows were read, in which it waited.
@example([([ASK, KEEP, ASK, ASK], [], [KEEP, KEEP, PLACE], False), ([], [], [], False)])
# Kept after the splits were made, and placed after the release.
@example([([ASK, KEEP, ASK, ASK], [KEEP, KEEP], [], False), ([], [], [], False)])
# Placed by what was read before the release.
@example([([ASK, KEEP, ASK, ASK, ASK, PLACE_LATE], [], [], False), ([], [], [], False)])
# Two releases at once, of which one was begun before a question was kept.
@example([([ASK, KEEP, ASK, ASK], [], [KEEP, KEEP], True), ([], [], [], False)])
def test_no_release_of_any_moment_tells_what_one_withholds(
    given: list[tuple[Acts, Acts, Acts, bool]],
) -> None:
    with at_first() as moments:
        for before, begun, read, twice in given:
            moments.do(before)
            told = SplitAssignment.objects.filter(question__told__split="")
            assert not told.filter(split__in=WITHHELD).exists()
            moments.release(begun, read, twice=twice)
            assert moments.leaks() == []
        settled = dict(ToldQuestion.objects.exclude(split="").values_list("question_id", "split"))
        placed = SplitAssignment.objects.filter(question_id__in=settled)
        assert dict(placed.values_list("question_id", "split")) == settled


def test_the_answers_that_are_withheld_are_there_to_be_told() -> None:
    with at_first() as moments:
        moments.do([ASK, KEEP] * 8)
        moments.release([], [], twice=False)
        assert moments.leaks() == []
        assert ToldQuestion.objects.filter(split__in=WITHHELD).count() == 4
        ToldQuestion.objects.all().delete()
        Verdict.objects.update(outcome="dropped", chosen=None)
        SplitAssignment.objects.all().delete()
        moments.do([ASK, KEEP])
        moments.release([], [], twice=False)
        assert len(moments.leaks()) == 4
