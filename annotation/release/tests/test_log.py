"""The private log holds all that a replay needs, and says in one line what it cannot be."""

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from annotation.decisions.by_hand import correct, exclude_worker, follow_votes, override_verdict
from annotation.models import Verdict
from annotation.protocols.iirc.tests.island import island
from annotation.release.log import LogError, SeedLine
from annotation.release.publish_release import publish_release
from annotation.release.write_log import assignments, check_loggable, work_digest
from annotation.replay.read_log import read_log
from annotation.replay.recreation import recreate_collection, recreate_seeds
from annotation.replay.remake_release import decide_again, different_files, mark_again
from annotation.splits.assignment import make_splits
from annotation.tests.making import NOW, make_collection
from collector.candidates.tests.making import make_pairs, make_towns
from collector.models import Collection, Corpus
from collector.protocols.creation import revise
from collector.seeds.selection import select_seeds
from common.actions import ActionError
from tasks.models import Answer, Lease, Question, UnitItem, Worker
from tasks.simulation.identity import genuine, made_up, marked
from tasks.tests import making

pytestmark = pytest.mark.django_db


@pytest.fixture
def collection() -> Collection:
    """Return a decided collection whose answer units hold what was answered."""
    made = island()
    for lease in Lease.objects.select_related("submission"):
        question = lease.submission.answers.get().question
        UnitItem.objects.create(unit=lease.unit, position=0, question=question)
    revise(made, {"question.reward_cents": 450}, why="It takes longer.", by="rita", now=NOW)
    make_splits(made, NOW)
    return made


def logged(collection: Collection, folder: Path) -> Path:
    """Return the log of a release."""
    path = folder / "private" / "log.jsonl"
    publish_release(collection, folder / "out", NOW, log=path)
    return path


def test_it_is_read_back_as_it_was_written(collection: Collection, tmp_path: Path) -> None:
    path = logged(collection, tmp_path)
    log = read_log(path)
    assert log.collection.pseudonym_key == collection.pseudonym_key
    assert [seed.key for seed in log.seeds] == ["seed0001", "seed0002", "seed0003"]
    assert len(log.assignments) == 15
    assert [place for place, _ in log.events()] == list(range(1, 31))
    assert {one.worker for one in log.assignments} == {"grace", "mallory", "hedy"}
    assert [(row.key, row.new) for row in log.revisions] == [("question.reward_cents", 450)]
    assert different_files(log, tmp_path / "out") == []
    (tmp_path / "out" / "LICENSE").write_text("Anything goes.")
    assert different_files(log, tmp_path / "out") == ["LICENSE"]


def test_its_owner_alone_can_read_it(collection: Collection, tmp_path: Path) -> None:
    path = logged(collection, tmp_path)
    assert path.stat().st_mode & 0o777 == 0o600
    assert [each.name for each in path.parent.iterdir()] == ["log.jsonl"]


def test_nothing_is_overwritten(collection: Collection, tmp_path: Path) -> None:
    path = logged(collection, tmp_path)
    with pytest.raises(LogError, match=r"log\.jsonl: it is there already"):
        logged(collection, tmp_path)
    assert read_log(path)


def test_nobodys_withdrawn_work_is_logged(collection: Collection, tmp_path: Path) -> None:
    Worker.objects.filter(pk="mallory").update(withdrawn_at=NOW)
    with pytest.raises(LogError, match="People have withdrawn their work"):
        logged(collection, tmp_path)
    assert not (tmp_path / "private").exists()
    assert not (tmp_path / "out").exists()


def test_a_collection_without_work_has_no_log(tmp_path: Path) -> None:
    with pytest.raises(LogError, match="Nobody has worked on pilot"):
        check_loggable(make_collection(), tmp_path / "log.jsonl")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda lines: lines[:-1], "it is not whole"),
        (lambda lines: [line for line in lines if '"unit", ' not in line], "no items of the unit"),
        (
            lambda lines: [re.sub('("handed_in": .*"unit": )"[^"]*"', r'\1""', _) for _ in lines],
            "an earlier version wrote it, which told nothing of live dialogs",
        ),
        (lambda lines: ["{}", *lines], r"line 1 is none of a log"),
        (lambda lines: ["no JSON", *lines], r"line 1 is none of a log"),
        (lambda lines: ["[" * 100_000, *lines], r"line 1 is none of a log"),
        (lambda lines: ['{"is": "files", "files": 3}', *lines], r"line 1 \(files\) is none"),
        (lambda lines: [lines[0].replace('"version": 1', '"version": 9'), *lines[1:]], "version 9"),
    ],
)
def test_another_file_is_refused_by_its_name(
    change: Any, sentence: str, collection: Collection, tmp_path: Path
) -> None:
    path = logged(collection, tmp_path)
    path.write_text("\n".join(change(path.read_text("utf-8").splitlines())))
    with pytest.raises(LogError, match=rf"log\.jsonl: .*{sentence}"):
        read_log(path)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"no\.jsonl: it cannot be read \(No such file"):
        call_command("replay_log", str(tmp_path / "no.jsonl"))


def test_the_corpus_must_be_there(collection: Collection, tmp_path: Path) -> None:
    path = logged(collection, tmp_path)
    with pytest.raises(CommandError, match="There is no corpus 'elsewhere': read in the same dump"):
        call_command("replay_log", str(path), corpus="elsewhere")


def test_it_is_laid_out_in_an_empty_database_over_the_same_corpus_alone(
    collection: Collection, tmp_path: Path
) -> None:
    log = read_log(logged(collection, tmp_path))
    corpus = collection.corpus
    with pytest.raises(LogError, match="This database knows workers of the log"):
        recreate_collection(log, corpus, NOW)
    for one in log.assignments:
        object.__setattr__(one, "worker", "somebody new")
    with pytest.raises(ActionError, match="already a collection 'pilot'"):
        recreate_collection(log, corpus, NOW)
    object.__setattr__(log.collection, "slug", "../../evil")
    with pytest.raises(ActionError, match=r"The short name '../../evil' cannot be kept"):
        recreate_collection(log, corpus, NOW)
    object.__setattr__(log.collection, "slug", "pilot")
    Collection.objects.update(slug="earlier")
    other = making.make_corpus(slug="other")
    with pytest.raises(LogError, match="'other' lacks 3 of the 3 seeds of the log"):
        recreate_collection(log, other, NOW)
    assert Collection.objects.count() == 1
    assert Corpus.objects.count() == 2


def test_pairs_are_drawn_again_from_the_sets_that_were_proposed(tmp_path: Path) -> None:
    corpus = make_towns(tmp_path)
    drawn = make_pairs(corpus, "pairs", keep_defaults=True)
    select_seeds(drawn, 4)
    lines = [
        SeedLine(key=seed.key, position=seed.position, fold=seed.fold, stage=seed.stage.name)
        for seed in drawn.seeds.all()
    ]
    again = make_pairs(corpus, "again", keep_defaults=True)
    recreate_seeds(again, SimpleNamespace(seeds=lines))
    keys = [list(each.seeds.values_list("position", "key")) for each in (drawn, again)]
    assert keys[0] == keys[1]
    assert len(keys[0]) == 4


def test_hands_decide_again_in_their_order(collection: Collection, tmp_path: Path) -> None:
    keyed = {question.text: question.verdict for question in Question.objects.exclude(verdict=None)}
    school, born = keyed["Who built the school?"], keyed["When was the keeper of the light born?"]
    override_verdict(school, "dropped", None, "Dull.", "rita", NOW)
    override_verdict(born, "dropped", None, "Hm.", "rita", NOW)
    follow_votes(born, "No, it is fine.", "rita", NOW)
    make_splits(collection, NOW)
    log = read_log(logged(collection, tmp_path))
    school.refresh_from_db()
    believed = (school.outcome, school.sentence, school.agreeing, school.n_votes)
    school.agreeing, school.n_votes, school.overridden = [], 0, False
    school.save()
    decide_again(collection, log, NOW)
    school.refresh_from_db()
    born.refresh_from_db()
    assert (school.outcome, school.sentence, school.agreeing, school.n_votes) == believed
    assert (school.overridden, born.overridden) == (True, False)


def test_a_corrected_answer_is_entered_again(collection: Collection, tmp_path: Path) -> None:
    verdict = Question.objects.get(text="Who built the school?").verdict
    base = verdict.question.answers.first()
    assert base is not None
    payload = base.payload | {"value": "7", "unit": "people"}
    correct(verdict, base, "value", payload, "Counted.", "rita", NOW)
    make_splits(collection, NOW)
    log = read_log(logged(collection, tmp_path))
    Verdict.objects.update(chosen=None, outcome="waiting", overridden=False)
    verdict.overrides.all().delete()
    Answer.objects.exclude(corrected_by="").delete()
    decide_again(collection, log, NOW)
    verdict.refresh_from_db()
    entered = verdict.chosen
    assert (entered.type, entered.payload, entered.corrected_by) == ("value", payload, "rita")
    assert verdict.outcome == "kept"
    assert entered.corrects == base


def test_a_correction_that_fell_with_its_vote_falls_again_in_a_replay(
    collection: Collection, tmp_path: Path
) -> None:
    verdict = Question.objects.get(text="Who built the school?").verdict
    base = verdict.question.answers.exclude(pk=verdict.chosen_id).first()
    assert base is not None
    assert base.worker is not None
    correct(verdict, base, "none", base.payload, "Counted.", "rita", NOW)
    exclude_worker(collection, base.worker, "Copied.", "rita", NOW)
    make_splits(collection, NOW)
    log = read_log(logged(collection, tmp_path))
    collection.exclusions.all().delete()
    decide_again(collection, log, NOW)
    verdict.refresh_from_db()
    assert not verdict.overridden


def test_what_nobody_said_is_marked_again(collection: Collection, tmp_path: Path) -> None:
    one, other, *_ = Answer.objects.order_by("pk")
    one.payload, other.synthetic = marked(one.payload, ["spans"]), True
    Answer.objects.bulk_update([one, other], ["payload", "synthetic"])
    log = read_log(logged(collection, tmp_path))
    told = [(line.question, line.fields, line.whole) for line in log.made_up]
    assert told == [(one.question.key, ["spans"], False), (other.question.key, [], True)]
    Answer.objects.filter(pk=one.pk).update(payload=genuine(one.payload))
    Answer.objects.filter(pk=other.pk).update(synthetic=False)
    leases = {each.taken: each.lease.pk for each in assignments(collection)}
    mark_again(log, leases)
    for each in (one, other):
        before = (made_up(each.payload), each.synthetic)
        each.refresh_from_db()
        assert (made_up(each.payload), each.synthetic) == before
    assert Answer.objects.filter(synthetic=True).count() == 1
    with pytest.raises(LogError, match=r"Nobody has answered .*, of which a part was made up"):
        mark_again(log, {})


def test_work_is_told_by_what_it_says_not_by_how_a_database_keeps_it() -> None:
    one = {"answers": [{"type": "span", "text": "Ä\ud800"}], "b": 1}
    other = {"b": 1, "answers": [{"text": "Ä\ud800", "type": "span"}]}
    assert work_digest(one) == work_digest(other) != work_digest({"b": 1})
