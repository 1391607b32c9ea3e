"""Old results become reviewed and released work: once, without a payment, with their history."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from annotation.models import Verdict
from annotation.mturk_import.plan import find_destination, get_or_create_collection
from annotation.mturk_import.tests.batches import (
    HEADLINES,
    PASSAGES,
    READERS,
    WRITERS,
    batch_csv,
    labels_dump,
    line,
    texts,
)
from collector.models import Collection, Corpus, Seed
from collector.protocols.loading import get_protocol
from tasks.lifecycle.maintenance import maintain_alone
from tasks.models import (
    Answer,
    Identity,
    Lease,
    Payment,
    Posting,
    Question,
    Submission,
    Unit,
    Worker,
)
from tests.page_workers import run

ROOT = Path(__file__).resolve().parents[3]
pytestmark = pytest.mark.django_db


@pytest.fixture
def folder(tmp_path: Path, settings: Any) -> Path:
    """Return where the files are; the generic protocol of text and label is known."""
    settings.PROTOCOL_FOLDERS = [*settings.PROTOCOL_FOLDERS, ROOT / "tests" / "protocols"]
    (tmp_path / "texts.csv").write_bytes(batch_csv(texts()))
    dump, shown = labels_dump()
    (tmp_path / "labels.json").write_bytes(dump)
    (tmp_path / "shown.csv").write_bytes(shown)
    return tmp_path


def take(stage: str, *files: Path, apply: bool = True, **options: Any) -> dict[str, Any]:
    """Return what the command says of the files."""
    given = {"protocol": "headline", "corpus": "old-passages", "stage": stage} | options
    told: dict[str, Any] = run("import_results", "old", *map(str, files), apply=apply, **given)
    return told


def take_all(folder: Path) -> None:
    take("text", folder / "texts.csv")
    take("label", folder / "labels.json", inputs=[folder / "shown.csv"])


def test_a_corpus_that_is_there_is_left_as_it_is(folder: Path) -> None:
    corpus = Corpus.objects.create(slug="old-passages", name="Old", language="en")
    place = find_destination("old", get_protocol("headline"), corpus.slug, {})
    Corpus.objects.update(name="Passages of the first round")
    get_or_create_collection(place, "en", timezone.now())
    corpus.refresh_from_db()
    assert corpus.name == "Passages of the first round"


def test_without_apply_it_only_says_what_it_would_do(folder: Path) -> None:
    told = take("text", folder / "texts.csv", apply=False)
    assert told == {
        "applied": False,
        "assignments": 4,
        "rejected": 0,
        "workers": 2,
        "paid_cents": 100,
        "known": 0,
        "left_out": [],
        "uncounted": [],
    }
    assert not Collection.objects.exists()
    assert not Worker.objects.exists()


def test_old_results_are_reviewed_split_and_released(folder: Path, settings: Any) -> None:
    take_all(folder)
    assert (Seed.objects.count(), Question.objects.count(), Answer.objects.count()) == (2, 4, 12)
    run("validate_answers", "old")
    assert sorted(Verdict.objects.values_list("outcome", "chosen__type")) == [
        ("kept", "faithful"),
        ("kept", "faithful"),
        ("kept", "faithful"),
        ("kept", "wrong"),
    ]
    run("make_splits", "old")
    run("export_dataset", "old", out=folder / "out")
    lines = (folder / "out" / "headlines.jsonl").read_text("utf-8").splitlines()
    released = {one["headline"]: one for one in map(json.loads, lines)}
    assert set(released) == {f"{words} {index}" for words in HEADLINES for index in range(2)}
    assert released["Boats leave Erle 1"]["label"] == "wrong"
    assert released["Boats leave Erle 1"]["paragraph"] == PASSAGES[1]
    assert released["Boats leave Erle 1"]["remark"] == "a < b"
    assert not any(name in "".join(lines) for name in READERS)
    settings.PASSWORDLESS_SIGN_IN = True
    rita = Client(HTTP_HOST="localhost")
    one = f"questions/{Question.objects.first().key}/"
    for page in ("", "now/", "seeds/", "questions/", one, "money/", "report/"):
        assert rita.get(f"/collections/old/{page}").status_code == 200, page


def test_it_is_safe_to_run_twice(folder: Path) -> None:
    take_all(folder)
    tables = (Submission, Question, Answer, Payment, Posting, Unit, Lease, Worker, Seed)
    before = [table.objects.count() for table in tables]
    told = take("text", folder / "texts.csv")
    assert (told["assignments"], told["known"]) == (0, 4)
    take_all(folder)
    assert [table.objects.count() for table in tables] == before


def never(*args: Any, **values: Any) -> None:
    raise AssertionError("The marketplace was called.")


def test_nothing_is_owed_and_what_was_paid_is_history(folder: Path, monkeypatch: Any) -> None:
    take_all(folder)
    collection = Collection.objects.get()
    assert collection.state == "finished"
    assert (collection.spent_cents, collection.reserved_cents) == (4 * 25 + 12 * 10, 0)
    assert collection.budget_cents == collection.spent_cents
    assert set(Payment.objects.values_list("state", flat=True)) == {"confirmed"}
    assert set(Posting.objects.values_list("state", flat=True)) == {"settled"}
    first = Submission.objects.order_by("pk")[0]
    assert first.active_seconds == 150
    assert first.received_at.isoformat() == "2019-05-03T17:02:30+00:00"
    assert not Unit.objects.filter(closed=False).exists()
    monkeypatch.setattr("tasks.crowd.requester_api.call", never)
    maintain_alone(collection, timezone.now())
    assert Payment.objects.count() == 16


def test_people_are_pseudonymous_and_one_person_is_one_worker(folder: Path) -> None:
    take_all(folder)
    assert Identity.objects.filter(provider="mturk-archive").count() == 5
    assert not any(one.raw.get("WorkerId") for one in Submission.objects.all())
    call_command("erase_worker", "AADA", withdraw=True)
    assert not Identity.objects.filter(person="AADA").exists()


def test_rejected_work_is_kept_out_of_the_data(folder: Path) -> None:
    dump, _ = labels_dump(AMALLORY="Rejected", AIDA="Submitted")
    (folder / "labels.json").write_bytes(dump)
    take("text", folder / "texts.csv")
    told = take("label", folder / "labels.json", inputs=[folder / "shown.csv"])
    assert (told["assignments"], told["rejected"], told["uncounted"]) == (12, 4, [])
    assert Answer.objects.count() == 8
    assert Submission.objects.filter(state="rejected", counts=False).count() == 4
    assert Payment.objects.filter(state="withheld").count() == 4
    assert Collection.objects.get().spent_cents == 4 * 25 + 8 * 10


def test_labels_alone_come_with_the_texts_they_judge(folder: Path) -> None:
    take("label", folder / "labels.json", inputs=[folder / "shown.csv"])
    assert set(Question.objects.values_list("worker", "submission")) == {(None, None)}
    run("validate_answers", "old")
    run("make_splits", "old")
    counts = run("export_dataset", "old", out=folder / "out")["counts"]
    assert sum(counts["questions"].values()) == 4


def test_columns_and_words_are_mapped_item_by_item(folder: Path) -> None:
    values = {
        "Input__para1": PASSAGES[0],
        "Input__para2": PASSAGES[1],
        "Input__said1": HEADLINES[0],
        "Input__said2": HEADLINES[1],
        "Answer__q1.good": "true",
        "Answer__q1.bad": "false",
        "Answer__taskAnswers": json.dumps([{"q2": {"good": False, "bad": True}}]),
    }
    path = folder / "labels.csv"
    path.write_bytes(batch_csv([line("H", name, **values) for name in READERS]))
    take(
        "label",
        path,
        map=["passage=Input.para{n}", "text=Input.said{n}", "label=Answer.q{n}"],
        value=["label:good=faithful", "label:bad=wrong"],
    )
    found = set(Answer.objects.values_list("question__text", "type"))
    assert found == {(HEADLINES[0], "faithful"), (HEADLINES[1], "wrong")}
    assert (Unit.objects.count(), Submission.objects.count()) == (1, 3)


def test_results_of_one_hit_in_two_files_stay_with_what_the_hit_showed(folder: Path) -> None:
    first, second = folder / "first.csv", folder / "second.csv"
    mine = [line("H", WRITERS[0], Input__passage=PASSAGES[0], Answer__headline=HEADLINES[0])]
    other = [line("H", WRITERS[1], Input__passage=PASSAGES[1], Answer__headline=HEADLINES[1])]
    first.write_bytes(batch_csv(mine))
    second.write_bytes(batch_csv(other))
    assert take("text", first)["assignments"] == 1
    told = take("text", second)
    assert told["assignments"] == 0
    [(_, why)] = told["left_out"]
    assert "It shows other items than the same HIT did before" in why
    assert Question.objects.get().seed.seed_paragraphs.get().paragraph.text == PASSAGES[0]
    # With the inputs that the HIT had, the second file's work is of the same passage.
    other[0]["Input.passage"] = PASSAGES[0]
    second.write_bytes(batch_csv(other))
    assert take("text", second)["assignments"] == 1
    assert (Unit.objects.count(), Question.objects.count()) == (1, 2)
    # The same for the labels, whose HITs show texts.
    take("label", folder / "labels.json", inputs=[folder / "shown.csv"])
    again = (folder / "shown.csv").read_text().replace(HEADLINES[0], "Another headline")
    (folder / "again.csv").write_text(again)
    dump = (folder / "labels.json").read_text().replace("AEDITH", "ANN").replace("AIDA", "BEA")
    (folder / "more.json").write_text(dump.replace("AMALLORY", "CLEO"))
    told = take("label", folder / "more.json", inputs=[folder / "again.csv"])
    assert len(told["left_out"]) == 6


@pytest.mark.parametrize(
    ("annotation", "kept"),
    [
        ("BatchId:31;OriginalHitTemplateId:9;", "'-20 is a year of the ancients"),
        ("BatchId:31;row:1;", "-20 is a year of the ancients"),
    ],
)
def test_an_apostrophe_before_a_sign_is_taken_away_where_we_have_put_it(
    folder: Path, annotation: str, kept: str
) -> None:
    cells = {"Input__passage": PASSAGES[0], "Answer__headline": "'-20 is a year of the ancients"}
    path = folder / "signs.csv"
    path.write_bytes(batch_csv([line("H", WRITERS[0], RequesterAnnotation=annotation, **cells)]))
    take("text", path)
    assert Question.objects.get().text == kept


def test_what_a_page_would_refuse_is_left_out_by_line_until_it_is_mended(folder: Path) -> None:
    lines = texts()
    lines[1]["Answer.headline"] = "word " * 13
    lines[2]["Input.passage"] = ""
    path = folder / "texts.csv"
    path.write_bytes(batch_csv(lines))
    told = take("text", path)
    assert [place.rpartition(", ")[2] for place, _ in told["left_out"]] == ["line 3", "line 4"]
    assert "It has 13 words: keep 12." in told["left_out"][0][1]
    assert "There is no passage" in told["left_out"][1][1]
    path.write_bytes(batch_csv(texts()))
    assert take("text", path)["assignments"] == 2


def test_who_labelled_a_text_twice_or_wrote_it_counts_once(folder: Path) -> None:
    take("text", folder / "texts.csv")
    shown = {"Input__passage": PASSAGES[0], "Input__text": f"{HEADLINES[0]} 0"}
    lines = [
        line(hit, name, **shown, Answer__label="faithful")
        for hit, name in (("L1", "AIDA"), ("L2", "AIDA"), ("L1", "AADA"))
    ]
    path = folder / "labels.csv"
    path.write_bytes(batch_csv(lines))
    told = take("label", path)
    assert [place.rpartition(", ")[2] for place, _ in told["uncounted"]] == ["line 3", "line 4"]
    assert (Answer.objects.count(), Submission.objects.filter(counts=False).count()) == (1, 2)
    assert Payment.objects.filter(state="confirmed").count() == 7


def test_a_time_of_work_that_nobody_works_is_told_by_when_it_was_accepted(folder: Path) -> None:
    path = folder / "long.csv"
    lines = texts()
    for each, seconds in zip(lines, ("9" * 5000, "9" * 30, "²", "150"), strict=True):
        each["WorkTimeInSeconds"] = seconds
    path.write_bytes(batch_csv(lines))
    assert take("text", path)["assignments"] == 4
    assert set(Submission.objects.values_list("active_seconds", flat=True)) == {150}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"HITId,WorkerId\n1,2\n", "it has no column AssignmentId"),
        (b"\xff\xfe", "it is no CSV in UTF-8"),
        (b"{", "it is no JSON"),
        (b"[" * 100_000, "it is no JSON"),
        (b'{"Assignments": [{"HITId": "1"}]}', "assignment 1: it is not as ListAssignments"),
        (batch_csv([line("H", "A", "Draft")]), "line 2: AssignmentStatus has to be"),
        (batch_csv([line("H", "A", AcceptTime="soon")]), "'soon' is no time"),
        (json.dumps(line("H", "A") | {"SubmitTime": 10**30}).encode(), "0 is no time"),
        *(
            (batch_csv([line("H", "A", Reward=reward)]), "is no reward from 0 to 100,000")
            for reward in ("much", "1e400", "9" * 30, "100000.01", "-0.25", "NaN", "Infinity")
        ),
        (batch_csv([line("H", "A")]), "No result has a column Input.passage for passage"),
    ],
)
def test_a_wrong_file_is_refused_in_one_line(folder: Path, content: bytes, message: str) -> None:
    path = folder / "wrong"
    path.write_bytes(content)
    with pytest.raises(CommandError, match=message) as refused:
        take("text", path)
    assert "\n" not in str(refused.value)
    assert not Collection.objects.exists()


def test_a_stage_whose_work_has_places_in_texts_is_refused(folder: Path) -> None:
    with pytest.raises(CommandError, match="of the kind 'question'"):
        take("question", folder / "texts.csv", protocol="iirc")
    with pytest.raises(CommandError, match="There is no stage 'other'"):
        take("other", folder / "texts.csv")
    for wrong, message in (("map", "write NAME=COLUMN"), ("value", "write FIELD:OLD=NEW")):
        with pytest.raises(CommandError, match=message):
            take("text", folder / "texts.csv", **{wrong: ["nonsense"]})


def test_results_go_to_no_collection_with_work_of_its_own(folder: Path) -> None:
    take("text", folder / "texts.csv", set=["label.redundancy.train=2"])
    take("text", folder / "texts.csv", set=["label.redundancy.train=2"])
    with pytest.raises(CommandError, match="made with other parameters"):
        take("text", folder / "texts.csv", set=["label.redundancy.train=1"])
    with pytest.raises(CommandError, match="another protocol, another corpus"):
        take("text", folder / "texts.csv", corpus="elsewhere")
    Posting.objects.update(provider="mturk")
    with pytest.raises(CommandError, match="work of its own"):
        take("text", folder / "texts.csv")


def test_passages_of_a_wiki_are_used_where_they_are(folder: Path) -> None:
    from tasks.tests.making import make_corpus

    corpus = make_corpus()
    text = corpus.articles.order_by("pk")[3].paragraphs.get().text
    path = folder / "found.csv"
    path.write_bytes(batch_csv([line("H", "AADA", Input__passage=text, Answer__headline="H")]))
    take("text", path, corpus="hollin")
    assert Seed.objects.get().seed_paragraphs.get().paragraph.article.title == "Place 3"


def test_passages_of_a_wiki_are_found_and_never_added(folder: Path) -> None:
    from tasks.tests.making import make_corpus

    corpus = make_corpus()
    told = take("text", folder / "texts.csv", corpus="hollin")
    assert "The corpus has no paragraph 'The mill" in told["left_out"][0][1]
    assert corpus.articles.count() == 12
