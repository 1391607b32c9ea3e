"""What systems read is found once, by the question alone, and nothing is put in by hand."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from annotation.models import Context, SplitAssignment, Verdict
from annotation.protocols.hotpotqa.contexts import wanted
from annotation.protocols.hotpotqa.tests.pairs import ask, pairs, town
from annotation.release import publish_release as publishing
from annotation.release.publish_release import find_contexts, publish_release
from annotation.tests.making import NOW
from collector.models import Collection, Paragraph
from collector.protocols.creation import parameters_of
from collector.retrieval import files
from common.actions import ActionError
from tasks.models import Question

pytestmark = pytest.mark.django_db
SETTINGS_OF = {
    "train-easy": {"distractor"},
    "train-medium": {"distractor", "fullwiki"},
    "train-hard": {"distractor"},
    "dev": {"distractor", "fullwiki"},
    "test-distractor": {"distractor"},
    "test-fullwiki": {"fullwiki"},
}


@pytest.fixture
def collection(tmp_path: Path, settings: Any) -> Collection:
    """Return placed questions without contexts, in a corpus with more than enough paragraphs."""
    settings.HOME = tmp_path / "home"
    made = pairs()
    for number in range(12):
        town(made.corpus, f"Shore{number}")
    Context.objects.all().delete()
    return made


def stored() -> dict[tuple[str, str], list[int]]:
    """Return the paragraphs of each context by key and setting."""
    rows = Context.objects.values_list("question__key", "setting", "paragraphs")
    return {(key, setting): paragraphs for key, setting, paragraphs in rows}


def test_each_question_has_the_settings_of_its_split(collection: Collection) -> None:
    assert find_contexts(collection) == sum(map(len, SETTINGS_OF.values()))
    for question in Question.objects.all():
        found = {context.setting for context in question.contexts.all()}
        assert found == SETTINGS_OF[question.split_assignment.split]


def test_the_pair_is_among_eight_others_in_an_order_that_tells_nothing(
    collection: Collection,
) -> None:
    for number in range(20):
        pair = [town(collection.corpus, f"Cape{number}{letter}") for letter in "AB"]
        question = ask(collection, pair, f"Who founded a harbour of Quarnsey, Cape{number}A?", "x")
        SplitAssignment.objects.create(question=question, split="dev", reason="So.", placed_at=NOW)
    SplitAssignment.objects.filter(question__text__startswith="Who founded number").delete()
    # A word of one text in two weighs nothing, so that many are needed that say nothing of it.
    for number in range(90):
        paragraph = town(collection.corpus, f"Inland{number}")
        Paragraph.objects.filter(pk=paragraph.pk).update(text=f"Inland{number} is flat.")
    find_contexts(collection)
    places: Counter[int] = Counter()
    for context in Context.objects.filter(setting="distractor"):
        gold = {each.paragraph_id for each in context.question.seed.seed_paragraphs.all()}
        assert gold <= set(context.paragraphs)
        assert len(context.paragraphs) == len(set(context.paragraphs)) == 10
        titles = Paragraph.objects.filter(pk__in=context.paragraphs).values_list("article__title")
        assert len(set(titles)) == 10
        places.update(at for at, each in enumerate(context.paragraphs) if each in gold)
    assert len(places) > 6


def ask_by_name(collection: Collection, candidates: int) -> Context:
    """Name the second paragraph in the question of dev; return what its search finds."""
    collection.parameters["contexts"]["candidates"] = candidates
    collection.save()
    question = Question.objects.get(split_assignment__split="dev")
    second = question.seed.seed_paragraphs.get(position=1)
    question.text = f"Who founded {second.paragraph.article.title}?"
    question.save()
    find_contexts(collection)
    return Context.objects.get(question=question, setting="fullwiki")


def test_the_whole_corpus_is_searched_and_ranks_are_kept(collection: Collection) -> None:
    context = ask_by_name(collection, 5000)
    gold = [each.paragraph_id for each in context.question.seed.seed_paragraphs.all()]
    # All are founded by somebody; what weighs nothing stays in the order of pages.
    assert context.pool == Paragraph.objects.count()
    others = [pk for pk in Paragraph.objects.values_list("pk", flat=True) if pk != gold[1]]
    assert context.paragraphs == [gold[1], *others[:9]]
    assert context.gold_ranks == [2 + others.index(gold[0]), 1]
    assert context.answer_rank == 1


def test_a_paragraph_that_is_not_found_is_not_put_in(collection: Collection) -> None:
    context = ask_by_name(collection, 1)
    gold = [each.paragraph_id for each in context.question.seed.seed_paragraphs.all()]
    assert context.paragraphs == [gold[1]]
    assert (context.pool, context.gold_ranks) == (1, [2, 1])


def test_yes_and_no_are_held_by_no_paragraph(collection: Collection) -> None:
    verdict = Verdict.objects.get(question__split_assignment__split="dev")
    verdict.chosen.type, verdict.chosen.payload = "yes", {"facts": [[0, 0], [1, 0]]}
    verdict.chosen.save()
    find_contexts(collection)
    context = Context.objects.get(question=verdict.question, setting="fullwiki")
    assert context.answer_rank is None


def test_what_is_stored_stays_and_found_again_is_the_same(
    collection: Collection, monkeypatch: Any
) -> None:
    find_contexts(collection)
    before = stored()
    monkeypatch.setattr(publishing, "index_of", None)
    assert find_contexts(collection) == 0
    monkeypatch.undo()
    Context.objects.all().delete()
    monkeypatch.setattr(publishing, "CONTEXTS_AT_ONCE", 1)
    said: list[str] = []
    find_contexts(collection, said.append)
    assert stored() == before
    assert said[1] == "Finding contexts: 1 of 6 questions done"
    assert len(said) == 6


def test_one_question_more_leaves_the_compared_ones_nearly_the_same(
    collection: Collection,
) -> None:
    parameters = parameters_of(collection)
    table = parameters.contexts.model_copy(update={"compared_questions": 5})
    parameters = parameters.model_copy(update={"contexts": table})
    splits = {f"key{number}": "train-medium" for number in range(40)}
    for number in range(40, 60):
        before = wanted(splits, parameters)
        splits[f"key{number}"] = "train-medium"
        after = wanted(splits, parameters)
        gone = {key for key in before if before[key] != after[key]}
        assert len(gone) <= 1
        assert sum("fullwiki" in settings for settings in after.values()) == 5


def test_every_sentence_that_is_released_is_known(collection: Collection) -> None:
    Paragraph.objects.update(sentences=None, splitter="")
    find_contexts(collection)
    read = {each for paragraphs in stored().values() for each in paragraphs}
    assert not Paragraph.objects.filter(pk__in=read, sentences=None).exists()


def test_a_release_finds_them_itself_or_says_what_to_do(
    collection: Collection, tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.setattr(files, "BUILT_ON_DEMAND", 1)
    with pytest.raises(ActionError, match=r"run .*manage\.py build_index"):
        publish_release(collection, tmp_path / "out", NOW)
    assert not (tmp_path / "out").exists()
    monkeypatch.undo()
    issued = publish_release(collection, tmp_path / "out", NOW)
    assert (issued.folder / "hotpot_dev_fullwiki_v1.json").exists()
