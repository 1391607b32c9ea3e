"""A requester corrects answers: in two lengths, with evidence, or that the documents have none."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from annotation.dashboard.tests.making import send
from annotation.models import Verdict
from annotation.protocols.rag.tests.test_whole_way import read_all
from collector.models import Collection, Document
from tasks.models import Answer, Question
from tests.page_workers import run

pytestmark = pytest.mark.django_db
TOLD = {"text": "eleven boats", "full": "The harbour held eleven boats."}
WORDS = "The harbour of Carrow was dug by hand"


def test_a_requester_corrects_answers_and_the_release_says_what_holds(
    asked: Collection, tmp_path: Path, settings: Any
) -> None:
    read_all(asked)
    settings.PASSWORDLESS_SIGN_IN = True
    rita = Client(HTTP_HOST="localhost")

    def correct(question: Question, **typed: str) -> str:
        page = f"/collections/sought/questions/{question.key}/"
        given = {"decision": "corrected", "base": "A", "note": "Read again.", **typed}
        return send(rita, page, f"{page}override/", given, follow=True).content.decode()

    drawn = Question.objects.filter(stage__name="question")
    first, second = drawn.filter(answers__type="answer").distinct()[:2]
    for typed, sentence in (
        ({"type": "answer", "text": "eleven"}, "Write the corrected answer twice"),
        ({"type": "answer", **TOLD, "evidence": "Words of nobody"}, "none of the passages"),
        ({"type": "yes"}, "Choose what type of answer"),
    ):
        page = correct(first, **typed)
        assert sentence in page
        assert not Answer.objects.exclude(corrected_by="").exists()
    assert 'name="full"' in page
    assert "Released answer, entered by owner" in correct(
        first, type="answer", **TOLD, evidence=WORDS
    )
    correct(second, type="none")
    mark, none = (Verdict.objects.get(question=one).chosen for one in (first, second))
    carrow = Document.objects.get(article__title="Carrow").external_id
    place = {"document": carrow, "paragraph": 0, "start": 0, "end": len(WORDS), "text": WORDS}
    assert mark is not None
    assert none is not None
    assert mark.payload["evidence"] == [place]
    assert (none.type, none.payload["short"], none.payload["evidence"]) == ("none", "", [])
    run("make_splits", "sought")
    run("export_dataset", "sought", out=tmp_path / "out")
    files = [json.loads((tmp_path / f"out/{fold}.json").read_text()) for fold in FOLDS]
    released = {
        one["question"]: one for all in files for seed in all["data"] for one in seed["qas"]
    }
    one = released[first.text]
    assert one["answers"] == [{"text": TOLD["text"]}]
    assert one["full_answer"] == TOLD["full"]
    assert [each["text"] for each in one["evidence"]] == [WORDS]
    assert one["other_evidence"] == []
    assert one["single_passage"] == (len(one["shown"]) > 1)
    assert released[second.text]["is_impossible"]
    assert released[second.text]["answers"] == []


FOLDS = ("train", "dev", "test")
