"""A protocol is one folder and no other edit: one from elsewhere runs all the way to a release."""

import json
import re
import shutil
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError
from django.test import Client
from django.utils import timezone

from annotation.jobs import look_after_collection
from annotation.models import Verdict
from collector.models import Collection, Corpus, KnownProtocols, Stage
from collector.models.corpus import CorpusKind
from collector.protocols import creation, loading
from collector.protocols.loading import ProtocolError
from tasks.crowd import marketplace
from tasks.jobs import look_after_dialogs
from tasks.models import Answer, Payment, Posting, Question, Submission
from tasks.simulation.recruiting import real_work
from tasks.tests.making import entry_query, make_corpus, name_qualification, write_keys
from tests.page_workers import Person, look, run

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "tests" / "protocols" / "headline"
SAMPLE = json.loads((FOLDER / "sample.json").read_text("utf-8"))
FILE = "headlines.jsonl"
WRITERS = ("AADA", "AGRACE")
READERS = ("AEDITH", "AIDA", "AMALLORY")
LABELS = ("faithful", "exaggerated", "wrong")

pytestmark = pytest.mark.django_db


@pytest.fixture
def folder(tmp_path: Path, settings: Any) -> Path:
    """Return the protocol's folder, in a place outside Collector."""
    place = tmp_path / "elsewhere" / FOLDER.name
    shutil.copytree(FOLDER, place)
    settings.PROTOCOL_FOLDERS = [*settings.PROTOCOL_FOLDERS, place.parent]
    return place


@pytest.fixture
def collection(folder: Path, tmp_path: Path, settings: Any, monkeypatch: Any) -> Collection:
    """Return an open collection whose HITs go to a marketplace that accepts everything."""
    write_keys(tmp_path, settings)
    settings.SUBMIT_ORIGINS = ["http://127.0.0.1:8000"]
    monkeypatch.setattr("tasks.lifecycle.publication.call", lambda operation: {})
    monkeypatch.setattr(marketplace, "create_hit_type", lambda **values: f"T {values['title']}")
    monkeypatch.setattr(marketplace, "create_hit", new_hit)
    monkeypatch.setattr(marketplace, "create_qualification", name_qualification)
    make_corpus()
    run("create_collection", "lines", protocol=folder.name, corpus="hollin", budget=20.0, seed=3)
    assert run("select_seeds", "lines", count=4) == {"": 4}
    run("publish", "lines")
    made = Collection.objects.get(slug="lines")
    look(made)
    return made


def new_hit(type_id: str, *, token: str, lifetime: timedelta, page: str) -> marketplace.Hit:
    """Return a HIT whose id is as a marketplace gives them: letters and digits."""
    return marketplace.Hit("H" + token.replace("-", "").upper(), type_id)


@pytest.fixture
def collected(collection: Collection) -> Collection:
    """Return it when two have written and three have labelled; about one text nobody agrees."""
    for name in WRITERS:
        Person(name, collection).work("text")
    look(collection)
    disputed = Question.objects.order_by("key")[0].text
    for name, label in zip(READERS, LABELS, strict=True):

        def differ(state: dict[str, Any], data: dict[str, Any], label: str = label) -> None:
            for item, entry in zip(state["items"], data["entries"], strict=True):
                if item["text"] == disputed:
                    entry["fields"]["label"] = label

        Person(name, collection).work("label", differ)
    return collection


@pytest.fixture
def shared(folder: Path, collection: Collection) -> Collection:
    """Return one whose labels are one person's, but of every HIT another two people's as well."""
    labels = {"train": 1, "dev": 1, "test": 1, "percent": 100, "people": 3}
    collection.parameters["label"]["redundancy"] = labels
    collection.save()
    for name in WRITERS:
        Person(name, collection).work("text")
    look(collection)
    Person(READERS[0], collection).work("label")
    run("validate_answers", collection.slug)
    return collection


def release(collection: Collection, folder: Path) -> dict[str, Any]:
    """Return what was printed of a release of all that is decided."""
    run("validate_answers", collection.slug)
    run("make_splits", collection.slug)
    return run("export_dataset", collection.slug, out=folder)


def lines(file: Path) -> list[dict[str, Any]]:
    """Return the objects of a JSONL file."""
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def test_it_runs_from_a_corpus_to_a_release(collected: Collection, tmp_path: Path) -> None:
    assert (Question.objects.count(), Answer.objects.count()) == (8, 24)
    assert Payment.objects.count() == Submission.objects.count() == 4 + 6
    counts = release(collected, tmp_path / "out")["counts"]
    assert "Authors" in counts.pop("not_said")
    assert counts == {
        "questions": {"train": 3, "test": 4},
        "dropped": 1,
        "waiting": 0,
        "votes": 24,
        "simulated": "",
    }
    assert Verdict.objects.get(outcome="dropped").reason == "no_majority"
    assert lines(tmp_path / "out" / FILE) == SAMPLE[FILE]


def test_what_more_people_do_is_decided_once_all_of_them_have(shared: Collection) -> None:
    waiting = Verdict.objects.all()
    assert {row.reason for row in waiting} == {"waiting_for_more_people"}
    assert {row.sentence for row in waiting} == {"1 of 3 people have given their votes so far."}
    for name in READERS[1:]:
        Person(name, shared).work("label")
    run("validate_answers", shared.slug)
    assert set(Verdict.objects.values_list("outcome", "n_votes")) == {("kept", 3)}


def test_what_more_people_were_to_do_is_decided_without_them_at_the_end(
    shared: Collection,
) -> None:
    shared.parameters["agreement"]["min_agreeing"] = 1
    shared.state = "finished"
    shared.save()
    run("validate_answers", shared.slug)
    assert set(Verdict.objects.values_list("outcome", "n_votes")) == {("kept", 1)}


def test_every_label_and_the_extra_field_are_in_the_release(
    collected: Collection, tmp_path: Path
) -> None:
    from pyarrow import parquet

    release(collected, tmp_path / "out")
    rows = parquet.read_table(tmp_path / "out" / "votes.parquet").to_pylist()
    assert {row["answer_type"] for row in rows} == set(LABELS)
    extra = [json.loads(row["answer_more"])["fields"] for row in rows]
    assert {name for fields in extra for name in fields} == {"remark"}
    assert any(fields["remark"] for fields in extra)


def test_its_estimate_counts_every_writer_and_every_label(collection: Collection) -> None:
    assert run("estimate", "lines")["stages"] == {"text": 4 * 60, "label": 6 * 60}


def test_nobody_labels_what_they_wrote(collection: Collection) -> None:
    for name in WRITERS:
        Person(name, collection).work("text")
    look(collection)
    ada = Person("AADA", collection)
    state, _ = ada.enter("label")
    own = set(Question.objects.filter(worker__identity__person="AADA").values_list("text"))
    assert not own & {(item["text"],) for item in state["items"]}
    assert ada.work("label") == 1


def test_a_label_page_tells_how_far_one_is_with_all_that_there_is(collection: Collection) -> None:
    for name in WRITERS:
        Person(name, collection).work("text")
    look(collection)
    told = []
    for name in READERS[:2]:
        person = Person(name, collection)
        person.work("label", lambda state, data: told.append(state["running"]))
    assert told == [{"done": 0, "of": 8}, {"done": 4, "of": 8}] * 2


def test_nobody_writes_about_what_they_have_labelled(collection: Collection) -> None:
    Person("AADA", collection).work("text")
    look(collection)
    edith = Person("AEDITH", collection)
    assert edith.work("label") == 1
    state, html = edith.enter("text")
    assert state == {}
    assert 'data-page="notice"' in html


def test_a_page_shows_what_its_role_may_see(collection: Collection) -> None:
    state, html = Person("AADA", collection).enter("text")
    assert 'data-kind="text"' in html
    assert 'id="field-headline"' in html
    assert all(item["passage"]["links"] == [] for item in state["items"])
    for name in WRITERS:
        Person(name, collection).work("text")
    look(collection)
    state, html = Person("AEDITH", collection).enter("label")
    assert 'value="exaggerated"' in html
    assert len(state["items"]) == 4
    writers = set(Question.objects.values_list("worker_id", flat=True))
    assert not any(worker in html for worker in writers)


def test_instructions_open_by_themselves_once(collection: Collection) -> None:
    ada = Person("AADA", collection)
    state, _ = ada.enter("text")
    assert not state["instructions"]["seen"]
    version = state["instructions"]["version"]
    assert ada.post(state, "instructions_seen", {"version": version}).status_code == 200
    assert ada.enter("text")[0]["instructions"]["seen"]


def test_a_refused_submission_says_what_to_mend_item_by_item(collection: Collection) -> None:
    ada = Person("AADA", collection)
    state, _ = ada.enter("text")
    entries = [{"item": "0", "fields": {"headline": "word " * 13}}, {"item": "1", "fields": {}}]
    refused = ada.post(state, "submit", {"data": {"entries": entries}})
    assert refused.status_code == 422
    assert [(each["index"], each["message"]) for each in refused.json()["problems"]] == [
        (1, "Write the headline."),
        (0, "It has 13 words: keep 12."),
    ]
    assert not Submission.objects.exists()


def test_the_requesters_pages_show_it(collected: Collection, settings: Any) -> None:
    run("validate_answers", "lines")
    settings.PASSWORDLESS_SIGN_IN = True
    rita = Client(HTTP_HOST="localhost")
    key = Verdict.objects.filter(outcome="kept")[0].question.key
    question = f"questions/{key}/"
    for page in ("", "now/", "seeds/", "questions/", question, "money/", "texts/label/", "report/"):
        assert rita.get(f"/collections/lines/{page}").status_code == 200, page
    assert "What became" in rita.get("/collections/lines/report/").content.decode()
    assert "It reads" in rita.get(f"/collections/lines/{question}").content.decode()
    assert "Headlines: what one line" in rita.get("/collections/new/").content.decode()


def test_its_official_file_is_read_back_and_written_again(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / FILE
    file.write_text("".join(json.dumps(line) + "\n" for line in SAMPLE[FILE]))
    counts = run("import_dataset", "old", str(file), protocol=folder.name)
    assert counts["questions"] == {"train": 3, "test": 4}
    run("export_dataset", "old", out=tmp_path / "again")
    assert lines(tmp_path / "again" / FILE) == SAMPLE[FILE]


@pytest.mark.parametrize("line", ["[1, 2]", '"text"', "null", "{}", "{"])
def test_a_line_that_is_no_headline_is_named(folder: Path, tmp_path: Path, line: str) -> None:
    file = tmp_path / FILE
    file.write_text(json.dumps(SAMPLE[FILE][0]) + f"\n{line}\n")
    with pytest.raises(CommandError, match=r"headlines\.jsonl, line 2: it is no headline"):
        run("import_dataset", "old", str(file), protocol=folder.name)


def test_it_says_in_one_line_that_it_can_replay_no_real_work(folder: Path) -> None:
    with pytest.raises(
        ProtocolError, match=r"cannot replay: \S+simulated\.py has no replay\(path\)"
    ):
        real_work(folder.name, Path("official.json"))


def test_its_folder_is_all_that_names_it() -> None:
    code = [
        path
        for room in ("collector", "tasks", "annotation", "marketplace", "templates", "deploy")
        for path in (ROOT / room).rglob("*")
        if path.suffix in (".py", ".html", ".js", ".css", ".toml")
        and "tests" not in path.relative_to(ROOT).parts
    ]
    assert code
    word = re.compile(rf"\b{FOLDER.name}\b", re.IGNORECASE)
    assert [str(path) for path in code if word.search(path.read_text("utf-8"))] == []


@pytest.mark.parametrize(
    ("part", "lost", "message"),
    [
        ("seeds.py", "", r"lacks .*seeds\.py: write it"),
        ("parameters.py", "VERSION", r"parameters\.py lacks VERSION: write it"),
        ("validation.py", "def verdict", r"lacks verdict\(votes, parameters, fold\): write it"),
        ("protocol.toml", "", r"There is no protocol 'headline'"),
        ("instructions/label.md", "", r"lacks .*label\.md: write it"),
    ],
)
def test_a_missing_part_is_named(folder: Path, part: str, lost: str, message: str) -> None:
    path = folder / part
    text = path.read_text("utf-8")
    path.unlink()
    if lost:
        path.write_text(text.replace(lost, "def other" if " " in lost else "OTHER"))
    make_corpus()
    with pytest.raises(CommandError, match=message):
        begin(folder.name)


@pytest.mark.parametrize(
    ("file", "before", "after", "named"),
    [
        ("checks.py", "from typing import Any", "import nowhere", "checks.py, line 4: ModuleNot"),
        ("checks.py", "def problems(", "def problems((", "checks.py, line 10: SyntaxError"),
        ("validation.py", "def vote(", "def other(", "validation.py lacks vote(type, payload)"),
        ("validation.py", "def vote(", "def vote(more, ", "validation.py: vote is called as vote("),
        ("export.py", "def files(", "def others(", "export.py lacks files("),
        ("simulated.py", "def fill(", "def empty(", "simulated.py lacks fill("),
        ("parameters.py", "VERSION = 1", "VERSION = 2", "protocol.version is 1, VERSION in"),
        ("protocol.toml", 'name = "headline"', 'name = "line"', "the folder's name, 'headline'"),
        (
            "protocol.toml",
            'kind = "label"',
            'kind = "lable"',
            "label.kind: There is no kind 'lable'",
        ),
        (
            *("protocol.toml", 'items_from = "text"', 'items_from = "texts"'),
            "label.items_from is 'texts', nothing that comes before: take one of seeds, text.",
        ),
        ("protocol.toml", "[label]", "[label", "is not valid TOML"),
        ("instructions/text.md", "{reward}", "{rewards}", "text.md: {rewards} stands for nothing"),
        ("instructions/text.md", "{reward}", "{Rewards2}", "{Rewards2} stands for nothing"),
        ("instructions/text.md", "{reward}", "{line:one|more}", "{line:one|more} stands for"),
    ],
)
def test_what_is_wrong_in_a_folder_is_named_before_anything_is_collected(
    folder: Path, file: str, before: str, after: str, named: str
) -> None:
    path = folder / file
    text = path.read_text("utf-8")
    assert before in text
    path.write_text(text.replace(before, after, 1), "utf-8")
    make_corpus()
    with pytest.raises(CommandError, match=re.escape(named)):
        run("create_collection", "lines", protocol=folder.name, corpus="hollin")
    assert not Collection.objects.exists()


def test_a_folder_that_is_wrong_keeps_nobody_from_the_form_of_a_new_collection(
    folder: Path, settings: Any
) -> None:
    settings.PASSWORDLESS_SIGN_IN = True
    (folder / "seeds.py").write_text("import nowhere")
    Corpus.objects.create(
        slug="own", name="Own", language="en", state="ready", kind=CorpusKind.DOCUMENTS
    )
    page = Client(HTTP_HOST="localhost").get("/collections/new/?corpus=own")
    assert '<option value="rag" selected>' in page.content.decode()


def test_a_function_of_python_itself_that_does_not_say_what_it_takes_is_no_fault(
    folder: Path,
) -> None:
    path = folder / "validation.py"
    path.write_text(path.read_text().replace("def vote(", "vote = max\n\n\ndef other("))
    make_corpus()
    run("create_collection", "lines", protocol=folder.name, corpus="hollin")


def test_all_that_is_wrong_is_named_at_once_a_line_each(folder: Path) -> None:
    for file in ("validation.py", "export.py", "instructions/consent.md"):
        (folder / file).unlink()
    make_corpus()
    with pytest.raises(CommandError) as refusal:
        run("create_collection", "lines", protocol=folder.name, corpus="hollin")
    assert len(str(refusal.value).split("\n")) == 3


def test_a_part_that_was_lost_since_is_named_at_publish(folder: Path) -> None:
    make_corpus()
    run("create_collection", "lines", protocol=folder.name, corpus="hollin", budget=20.0)
    run("select_seeds", "lines", count=4)
    (folder / "validation.py").unlink()
    with pytest.raises(CommandError, match=r"lacks .*validation\.py: write it"):
        run("publish", "lines")
    assert Collection.objects.get().state == "draft"


def begin(protocol: str) -> None:
    """Go through the commands that need the protocol's parts."""
    run("create_collection", "lines", protocol=protocol, corpus="hollin")
    run("select_seeds", "lines", count=2)
    run("validate_answers", "lines")


def test_a_label_without_choices_is_refused(folder: Path) -> None:
    make_corpus()
    fields = 'label.fields=[{ name = "label", label = "Is it?" }]'
    with pytest.raises(CommandError, match="the first field is the label: it needs two choices"):
        run("create_collection", "lines", protocol=folder.name, corpus="hollin", set=[fields])
    assert not Collection.objects.exists()


@pytest.fixture
def unknown(collection: Collection, settings: Any) -> Collection:
    """Return the open collection as a process finds it that does not know its protocol."""
    settings.PROTOCOL_FOLDERS = settings.PROTOCOL_FOLDERS[:-1]
    creation._resolved.cache_clear()
    loading._log.cache_clear()
    return collection


def test_a_worker_is_told_where_a_process_does_not_know_the_protocol_and_one_line_is_logged(
    unknown: Collection, caplog: Any
) -> None:
    posting = Posting.objects.filter(state="live")[0]
    query = entry_query(posting, WRITERS[0], expires=timezone.now() + timedelta(hours=1))
    page = Client(HTTP_HOST="localhost").get(f"/hit/?{query}")
    assert page.status_code == 503
    assert "The server cannot show this work just now" in page.content.decode()
    for _ in range(3):
        look_after_collection(unknown.pk)
        look_after_dialogs()
    about_the_marketplace = "common.outages"
    (line,) = [
        one
        for one in caplog.records
        if one.levelname == "ERROR" and one.name != about_the_marketplace
    ]
    assert "There is no protocol 'headline'" in line.getMessage()
    assert line.exc_info is None
    unknown.refresh_from_db()
    assert unknown.look_at > timezone.now()


def test_nothing_is_published_where_a_process_at_work_does_not_know_the_protocol(
    unknown: Collection, folder: Path, settings: Any
) -> None:
    now = timezone.now()
    loading.record(now)
    settings.PROTOCOL_FOLDERS = [*settings.PROTOCOL_FOLDERS, folder.parent]
    with pytest.raises(
        CommandError, match=r"without the protocol 'headline': set .* a minute later"
    ):
        run("publish", "lines", stage="text")
    loading.record(now)
    Stage.objects.filter(name="text").update(state="closed")
    run("publish", "lines", stage="text")
    KnownProtocols.objects.create(process="gone:1", names=[], seen_at=now - timedelta(minutes=2))
    Stage.objects.filter(name="text").update(state="closed")
    run("publish", "lines", stage="text")
