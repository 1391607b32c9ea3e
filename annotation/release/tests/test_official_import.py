"""Official files come in as a collection and go out again equal, through the rows and commands."""

import json
import os
import tracemalloc
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import transaction
from hypothesis import HealthCheck, Phase, assume, given, settings

from annotation.management.commands.import_dataset import Contents
from annotation.management.commands.tests.test_score import GOLD
from annotation.models import OfficialFile, Verdict
from annotation.protocols.contracts import EXPORT
from annotation.protocols.iirc.tests import official
from annotation.release.official_import import Source, import_official_files
from annotation.release.publish_release import publish_release
from annotation.tests.making import NOW
from collector.models import Collection, Corpus
from collector.protocols.loading import get_protocol
from common.actions import ActionError
from tasks.models import Answer

pytestmark = pytest.mark.django_db
PASSAGE = {
    "pid": "p_1",
    "title": "Bain &amp; Co",
    "text": "Bain studied in Geneva.\n",
    "links": [
        {"target": "Geneva", "indices": [16, 22]},
        {"target": "Bain", "indices": [-4, -1]},
    ],
    "questions": [
        {
            "question": "How far is it?",
            "question_links": ["Geneva"],
            "context": [{"passage": "geneva", "text": "x", "indices": [-3, 5]}],
            "answer": {"type": "value", "answer_value": "5", "answer_unit": "km"},
        },
        {"qid": "q_2", "question": "Is it?", "answer": {"type": "binary", "answer_value": "no"}},
        {"qid": "q_3", "question": "Why?", "answer": {"type": "none"}, "context": []},
        {
            "qid": "q_4",
            "question": "Who?",
            "answer": {
                "type": "span",
                "answer_spans": [
                    {"text": "Bain", "passage": "main", "start": 900, "end": 904},
                    {"text": "Who", "passage": "question", "start": 0, "end": 3},
                ],
            },
        },
        {"qid": "q_5", "question": "Who?", "answer": {"type": "bad"}},
    ],
}
ARTICLES = {"geneva": 'A <b>city</b> in <a href="Swiss%20Alps">the Alps</a> &lt;', "Odd": "<"}


def again(files: dict[str, Any], out: Path) -> dict[str, Any]:
    """Return the files as they come out of a collection that they were read into."""
    contents = {name: json.dumps(value).encode() for name, value in files.items()}
    collection = import_official_files("published", "iirc", contents, Source(), NOW)
    folder = publish_release(collection, out, NOW).folder
    names = {"train.json", "dev.json", "test.json", "context_articles.json"}
    return {
        path.name: json.loads(path.read_bytes()) for path in folder.iterdir() if path.name in names
    }


def sections() -> object:
    """Return a file of QuAC's layout with many questions."""
    answer = {"text": "Ida", "answer_start": 0}
    asked = {"followup": "y", "yesno": "x", "answers": [answer], "orig_answer": answer}
    return {
        "data": [
            {
                "title": f"Ida {at % 50}",
                "background": "",
                "section_title": "Life",
                "paragraphs": [
                    {
                        "id": f"C_{at}",
                        "context": "Ida lived there. CANNOTANSWER",
                        "qas": [
                            {"id": f"C_{at}_q#{turn}", "question": f"Who, {turn}?", **asked}
                            for turn in range(12)
                        ],
                    }
                ],
            }
            for at in range(800)
        ]
    }


@pytest.mark.parametrize(
    ("protocol", "made"), [("quac", sections), ("iirc", lambda: [PASSAGE] * 2_000)]
)
def test_a_long_file_is_read_in_little_more_memory_than_it_has_itself(
    protocol: str, made: Callable[[], object], tmp_path: Path
) -> None:
    path = tmp_path / "train.json"
    path.write_text(json.dumps(made()))
    tracemalloc.start()
    try:
        published = get_protocol(protocol).part(EXPORT).published(Contents([path]))
        n_questions = sum(len(seed["questions"]) for seed in published.seeds)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert n_questions >= 9_600
    assert peak < 2.5 * path.stat().st_size


def test_every_type_of_answer_comes_out_as_it_went_in(tmp_path: Path) -> None:
    files = {
        "train.json": [PASSAGE, {"text": "No question.", "questions": []}],
        "dev.json": [],
        "context_articles.json": ARTICLES,
    }
    assert as_text(again(files, tmp_path / "out")) == as_text(files)


def as_text(files: dict[str, Any]) -> dict[str, str]:
    """Return each file as JSON, so that the order of keys and the kinds of numbers count too."""
    return {name: json.dumps(value) for name, value in files.items()}


def is_storable(files: dict[str, Any]) -> bool:
    """Return whether every database can hold it: PostgreSQL refuses the character NUL."""
    return "\\u0000" not in json.dumps(files)


@settings(
    max_examples=12,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
)
@given(official.files, official.files, official.articles)
def test_generated_files_come_out_equal(
    tmp_path: Path, train: list[Any], test: list[Any], articles: dict[str, str]
) -> None:
    files = {"train.json": train, "test.json": test, "context_articles.json": articles}
    assume(is_storable(files))
    with transaction.atomic():
        out = tmp_path / str(sum(1 for _ in tmp_path.iterdir()))
        assert as_text(again(files, out)) == as_text(files)
        transaction.set_rollback(True)


def test_the_real_passage_comes_out_equal_through_the_commands(tmp_path: Path) -> None:
    content = official.real_file()
    path = Path(os.environ["COLLECTOR_DATA"], "official", "iirc", "iirc_dev_first_passage.json")
    printed = StringIO()
    call_command("import_dataset", "real", str(path), "--protocol", "iirc", stdout=printed)
    assert "Read 2 dev questions into the collection 'real'" in printed.getvalue()
    printed = StringIO()
    call_command("export_dataset", "real", "--out", str(tmp_path / "out"), "--json", stdout=printed)
    released = json.loads(printed.getvalue())
    assert released["counts"]["questions"] == {"dev": 2}
    assert json.loads((tmp_path / "out" / "dev.json").read_bytes()) == json.loads(content)
    assert not (tmp_path / "out" / "context_articles.json").exists()
    card = (tmp_path / "out" / "README.md").read_text()
    assert "Nothing here was collected: it was read from published files." in card
    assert OfficialFile.objects.get().sha256 in card


def test_what_is_read_in_may_have_other_parameters(tmp_path: Path) -> None:
    path = tmp_path / "dev.json"
    path.write_text("[]")
    options = {"protocol": "iirc", "stdout": StringIO()}
    call_command("import_dataset", "dearer", str(path), set=["answer.reward_cents=450"], **options)
    assert Collection.objects.get().parameters["answer"]["reward_cents"] == 450
    with pytest.raises(CommandError, match=r"no parameter .answer\.wage"):
        call_command("import_dataset", "other", str(path), set=["answer.wage=1"], **options)
    assert Collection.objects.count() == Corpus.objects.count() == 1


def test_what_a_database_cannot_hold_is_refused_in_one_line() -> None:
    files = {"dev.json": rb'[{"text": "\ud800", "questions": []}]'}
    with pytest.raises(ActionError, match=r"cannot store .* nothing was stored") as refused:
        import_official_files("published", "iirc", files, Source(), NOW)
    assert "\n" not in str(refused.value)
    assert not Corpus.objects.exists()


def test_what_is_read_is_finished_and_decided() -> None:
    content = json.dumps([PASSAGE]).encode()
    collection = import_official_files(
        "published", "iirc", {"x/iirc_test.json": content}, Source("de"), NOW
    )
    assert (collection.state, collection.corpus.kind) == ("finished", "imported")
    assert collection.corpus.language == "de"
    assert list(Verdict.objects.values_list("outcome", "reason").distinct()) == [
        ("kept", "published")
    ]
    assert set(Answer.objects.values_list("submission", "worker")) == {(None, None)}
    call_command("validate_answers", "published", stdout=StringIO())
    call_command("make_splits", "published", stdout=StringIO())
    assert Verdict.objects.filter(outcome="kept").count() == 5


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["taken", "dev.json"], "already a corpus 'taken'"),
        (["new", "missing.json"], "missing.json: it cannot be read"),
        (["new", "odd.json"], "which fold is it"),
        (["fresh", "train.json"], "train.json: it is not valid JSON"),
        (["new", "dev.json", "--protocol", "unheard-of"], "no protocol 'unheard-of'"),
    ],
)
def test_a_wrong_call_gets_one_line_and_stores_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("dev.json").write_text(json.dumps(GOLD))
    Path("odd.json").write_text("[]")
    Path("train.json").write_text("[")
    import_official_files("taken", "iirc", {"dev.json": b"[]"}, Source(), NOW)
    with pytest.raises(CommandError, match=message) as refused:
        call_command("import_dataset", "--protocol", "iirc", *arguments, stdout=StringIO())
    assert "\n" not in str(refused.value)
    assert (Collection.objects.count(), Corpus.objects.count()) == (1, 1)
