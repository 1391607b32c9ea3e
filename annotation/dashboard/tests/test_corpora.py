"""Tests of corpora in the browser: documents are uploaded, read by a job, and shown as read."""

import errno
import json
import re
from io import BytesIO
from pathlib import Path
from time import perf_counter
from typing import Any
from zipfile import ZipFile

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.template.loader import render_to_string
from django.test import Client
from django.utils import timezone

from annotation.dashboard import corpus_views
from annotation.dashboard.questions.reading import Passage, pieces
from annotation.dashboard.tests.making import once_in
from annotation.jobs import has_due_work
from annotation.models import Rehearsal, RehearsalPage
from annotation.tests.making import make_collection
from collector.ingest.documents import ingestion, uploads
from collector.ingest.documents.tests.making import ARABIC, prose
from collector.ingest.documents.uploads import safe_path, work_on
from collector.models import (
    Article,
    Collection,
    Corpus,
    Document,
    DocumentUpload,
    Paragraph,
    Seed,
    SeedParagraph,
)
from collector.retrieval.files import folder_of
from collector.retrieval.passages import build_passages, search
from common.actions import ActionError
from common.long_work import BROKEN, SILENT, WorkState

pytestmark = pytest.mark.django_db
NEW = "/corpora/new/"


class OfThisProcess:
    """Stands for the process that reads an upload, and reads it in this one."""

    returncode = 0

    def __init__(self, command: list[str], **how: object) -> None:
        assert command[1:3] == ["-m", "collector.ingest.documents"]
        self.work = command[3:]

    def wait(self, seconds: float = 0) -> None:
        work_on(int(self.work[0]), self.work[1])

    def poll(self) -> int:
        return 0


@pytest.fixture(autouse=True)
def home(settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    settings.HOME = tmp_path
    monkeypatch.setattr(uploads.subprocess, "Popen", OfThisProcess)
    monkeypatch.setattr(uploads.os, "cpu_count", lambda: 1)
    return tmp_path


def sent(name: str, text: str) -> SimpleUploadedFile:
    return SimpleUploadedFile(name, text.encode())


def send(rita: Client, page: str = NEW, **given: Any) -> Any:
    values = {"name": "The Handbook", **given} if page == NEW else given
    return rita.post(page, values, follow=True)


def read_all() -> None:
    for pk in DocumentUpload.due(timezone.now()):
        uploads.read_upload(pk, timezone.now())


def test_documents_become_a_corpus_that_a_collection_can_be_made_of(
    rita: Client, home: Path
) -> None:
    assert "There is no corpus yet" in rita.get("/corpora/").content.decode()
    table = "|day|year|\n|-|-|\n|1|1871|\n"
    files = [sent("leave.md", f"# Leave\n\n{prose(6)}\n\n{table}"), sent("x.xyz", "?")]
    page = send(rita, documents=files).content.decode()
    assert "Waiting to begin" in page
    assert "2 files; a job takes them up within seconds." in page
    assert "is being read." in rita.get("/corpora/").content.decode()
    assert has_due_work()
    read_all()
    assert not has_due_work()
    page = rita.get("/corpora/the-handbook/").content.decode()
    assert "<b>1</b> new, <b>0</b> changed, <b>0</b> as before." in page
    assert "What was left out is said below, in <b>1</b> line." in page
    assert "x.xyz is none of what can be read" in page
    assert "1 document, 1 paragraph<" in page
    assert "<dt>Left out</dt><dd>3 % of the text (characters: tables 12)</dd>" in page
    assert "data-live" not in page
    assert "<html" not in rita.get("/corpora/the-handbook/now/").content.decode()
    assert list((home / "uploads").iterdir()) == []
    form = rita.get("/collections/new/?corpus=the-handbook").content.decode()
    assert '<option value="the-handbook" selected>' in form


def test_a_folder_of_thousands_of_files_is_sent_at_once(rita: Client) -> None:
    paths = [f"all/{number}.txt" for number in range(2000)]
    files = [sent(path.rpartition("/")[2], "Short.") for path in paths]
    told = send(rita, folder=files, path=paths).content.decode()
    assert "2,000 files; a job takes them up within seconds." in told


def test_paths_inside_a_folder_are_ids_and_lead_nowhere_else(rita: Client, home: Path) -> None:
    files = [sent("a.txt", prose(4)), sent("b.txt", prose(4, "b ")), sent("c.txt", prose(4, "c "))]
    send(rita, folder=files, path=["one/a.txt", "../../b.txt", "/etc/c.txt"])
    read_all()
    ids = Document.objects.values_list("external_id", flat=True)
    assert list(ids) == ["b.txt", "etc/c.txt", "one/a.txt"]
    assert not (home.parent / "b.txt").exists()
    assert safe_path("..\\..\\x") == "x"
    assert safe_path("../") == "document"


def test_a_file_below_very_many_folders_is_read_and_removed_again(rita: Client, home: Path) -> None:
    send(rita, folder=[sent("a.txt", prose(4))], path=["a/" * 1500 + "b.txt"])
    read_all()
    [added] = DocumentUpload.objects.get().outcome["added"]
    assert added.endswith("a/a/b.txt")
    assert list((home / "uploads").iterdir()) == []


def test_a_document_is_shown_as_it_was_read_and_in_its_direction(rita: Client) -> None:
    text = f"<h1>دليل</h1><h2>الجزء</h2><p>{ARABIC * 2}<ul><li>بند</ul>"
    send(rita, documents=[sent("a.html", text)])
    read_all()
    article = Document.objects.get().article
    page = rita.get(f"/corpora/the-handbook/documents/{article.page_id}/").content.decode()
    assert '<article class="document" lang="ar" dir="rtl">' in page
    assert '<h2 class="level-2">الجزء</h2>' in page
    assert '<p class="passage-text is-item">بند</p>' in page
    assert "Arabic, right to left" in rita.get("/corpora/the-handbook/").content.decode()


def test_documents_are_added_also_while_a_collection_uses_the_corpus(rita: Client) -> None:
    send(rita, documents=[sent("a.txt", prose(6))])
    read_all()
    add = "/corpora/the-handbook/add/"
    assert "Add documents to The Handbook" in rita.get(add).content.decode()
    files = [sent("a.txt", prose(7)), sent("b.txt", prose(5, "b "))]
    send(rita, add, documents=files)
    read_all()
    page = rita.get("/corpora/the-handbook/").content.decode()
    assert "<b>1</b> new, <b>1</b> changed" in page
    corpus = Corpus.objects.get()
    make_collection(corpus)
    Collection.objects.update(state="collecting", title="Pilot")
    build_passages(corpus)
    before = Article.objects.get(document__external_id="a.txt").pk
    files = [sent("a.txt", prose(8)), sent("c.txt", f"{prose(5, 'c ')} A zeppelin came.")]
    send(rita, add, documents=files)
    read_all()
    page = rita.get("/corpora/the-handbook/").content.decode()
    assert "<b>1</b> new, <b>0</b> changed" in page
    assert "a.txt has changed, but workers of “Pilot” can be shown it as it was" in page
    assert Article.objects.get(document__external_id="a.txt").pk == before
    # Workers who search find what has come.
    assert len(search(Corpus.objects.get(), "zeppelin", 5)) == 1


def test_until_what_has_come_is_indexed_workers_search_what_was_there(rita: Client) -> None:
    send(rita, documents=[sent("a.txt", f"{prose(6)} A zeppelin came.")])
    read_all()
    build_passages(Corpus.objects.get())
    Article.objects.create(corpus=Corpus.objects.get(), page_id=9, title="Nine", revision_id=0)
    assert len(search(Corpus.objects.get(), "zeppelin", 5)) == 1


def test_sets_of_pages_keep_a_corpus_as_it_is(rita: Client) -> None:
    send(rita, documents=[sent("a.txt", prose(6))])
    read_all()
    made = make_collection(Corpus.objects.get())
    made.candidate_sets.create(role="bridge", name="Towns", created_at=timezone.now())
    page = send(
        rita, "/corpora/the-handbook/add/", documents=[sent("c.txt", prose(5))]
    ).content.decode()
    assert "so it stays as it is" in page
    assert "Add documents" not in page
    assert DocumentUpload.objects.count() == 1


def test_what_an_upload_brought_is_removed_as_one(rita: Client) -> None:
    send(rita, documents=[sent("a.txt", prose(6))])
    read_all()
    packed = BytesIO()
    with ZipFile(packed, "w") as archive:
        for name in "bc":
            archive.writestr(f"{name}.txt", prose(5, f"{name} "))
    files = {"documents": [SimpleUploadedFile("x.zip", packed.getvalue())]}
    add, page = "/corpora/the-handbook/add/", "/corpora/the-handbook/"
    send(rita, add, **files)
    read_all()
    upload = DocumentUpload.objects.first()
    assert upload
    remove = f"{page}uploads/{upload.pk}/remove/"
    assert f'action="{remove}"' in rita.get(page).content.decode()
    made = make_collection(Corpus.objects.get())
    Collection.objects.update(state="collecting", title="Pilot")
    told = rita.post(remove, follow=True).content.decode()
    assert "They stay: they can be shown to workers of “Pilot”" in told
    made.delete()
    told = rita.post(remove, follow=True).content.decode()
    assert "Removed: 2 documents, whose text is in no row" in told
    assert "removed a moment ago" in rita.post(remove, follow=True).content.decode()
    assert [each.external_id for each in Document.objects.all()] == ["a.txt"]
    # Sent once more, it is read once more.
    packed.seek(0)
    send(rita, add, documents=[SimpleUploadedFile("x.zip", packed.getvalue())])
    read_all()
    assert Document.objects.count() == 3


def test_what_is_wrong_is_said_at_its_field_and_keeps_nothing(rita: Client, home: Path) -> None:
    Corpus.objects.create(slug="taken", name="Taken", language="en")
    page = send(rita, name="Taken", language="xq", licence="Mine").content.decode()
    for sentence in (
        "Choose files, or a folder.",
        "There is already a corpus &#x27;taken&#x27;",
        "&#x27;xq&#x27; is no code of a language",
        "Give the address of the licence &#x27;Mine&#x27;.",
    ):
        assert sentence in page
    page = send(rita, name="…", documents=[sent("a.txt", "A")]).content.decode()
    assert "Give a short name in Latin letters" in page
    assert not DocumentUpload.objects.exists()
    assert not (home / "uploads").exists()


def test_one_upload_at_a_time_is_read_into_a_corpus(rita: Client, home: Path) -> None:
    send(rita, documents=[sent("a.txt", prose(4))])
    page = send(rita, documents=[sent("b.txt", prose(4))]).content.decode()
    assert "Files for the-handbook are being read already" in page
    assert len(list((home / "uploads").iterdir())) == 1


def test_an_upload_sent_again_leads_to_what_was_sent(rita: Client, home: Path) -> None:
    def send_it(page: str = NEW, **more: str) -> Any:
        return send(rita, page, documents=[sent("a.txt", prose(4))], **more)

    pages = [send_it()]
    pages.append(send_it())
    read_all()
    pages.append(send_it())
    assert {page.redirect_chain[-1][0] for page in pages} == {"/corpora/the-handbook/"}
    assert (DocumentUpload.objects.count(), list((home / "uploads").iterdir())) == (1, [])
    add = "/corpora/the-handbook/add/"
    once = once_in(rita.get(add).content.decode())
    added = [send_it(add, once=once).redirect_chain[-1][0] for _ in range(2)]
    assert added == ["/corpora/the-handbook/"] * 2
    assert DocumentUpload.objects.count() == 2


def test_what_was_not_imported_can_be_sent_again(rita: Client) -> None:
    for _ in range(2):
        send(rita, documents=[sent("a.pdf", "no")])
        read_all()
    assert DocumentUpload.objects.filter(state=WorkState.FAILED).count() == 2


def test_when_nothing_can_be_read_the_page_says_why(rita: Client) -> None:
    send(rita, documents=[sent("a.pdf", "no"), sent("b.xyz", "no")])
    read_all()
    page = rita.get("/corpora/the-handbook/").content.decode()
    assert "Nothing was imported." in page
    assert "a.pdf is no PDF by what it holds" in page
    assert "b.xyz is none of what can be read" in page
    assert not Corpus.objects.exists()


@pytest.mark.parametrize(
    ("unfit", "why"),
    [
        ("请" * 90 + ".txt", "its name is too long for the disk"),
        ("a.txt/b.txt", "a file is called like its folder"),
        ("a.txt/deeper/b.txt", "a file is called like its folder"),
        (
            "/".join("folder" * 30 for _ in range(40)) + "/b.txt",
            "its name is too long for the disk",
        ),
    ],
    ids=["name", "folder", "folders", "path"],
)
def test_a_file_that_no_disk_takes_is_named_and_the_rest_goes_on(
    rita: Client, home: Path, unfit: str, why: str
) -> None:
    files = [sent("a.txt", prose(4)), sent("b.txt", prose(4, "b ")), sent("c.txt", prose(4, "c "))]
    send(rita, folder=files, path=["a.txt", unfit, "c.txt"])
    read_all()
    upload = DocumentUpload.objects.get()
    assert (upload.state, upload.outcome["added"]) == (WorkState.DONE, ["a.txt", "c.txt"])
    assert [line for line in upload.outcome["left_out"] if line.startswith(f"{unfit} is left out")]
    assert why in rita.get("/corpora/the-handbook/").content.decode()
    assert list((home / "uploads").iterdir()) == []


@pytest.mark.parametrize("name", ["请" * 90 + ".txt", "a." + "请" * 90], ids=["name", "ending"])
def test_a_large_file_may_have_any_name(rita: Client, name: str) -> None:
    files = [sent("a.txt", prose(4)), sent(name, prose(4) * 10_000)]
    assert files[1].size > 2_500_000
    send(rita, documents=files)
    read_all()
    (line,) = DocumentUpload.objects.get().outcome["left_out"]
    assert line.startswith(name)


def test_where_nothing_can_be_kept_it_is_said_and_no_file_stays(
    rita: Client, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = send(rita, folder=[sent("b.txt", prose(4))], path=["请" * 90 + ".txt"])
    assert "too long for the disk" in page.content.decode()
    full = OSError(errno.ENOSPC, "No space left on device")
    monkeypatch.setattr(uploads, "_keep", lambda *_: (_ for _ in ()).throw(full))
    page = send(rita, documents=[sent("a.txt", prose(4))])
    assert "Nothing was kept: the disk is full" in page.content.decode()
    assert not DocumentUpload.objects.exists()
    assert list((home / "uploads").iterdir()) == []


def test_a_process_that_dies_thrice_is_told_and_its_files_are_kept_for_another_try(
    rita: Client, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    send(rita, documents=[sent("a.txt", prose(4))])
    with monkeypatch.context() as dying:
        dying.setattr(OfThisProcess, "wait", lambda self, seconds=0: None)
        for n in range(4):
            uploads.read_upload(DocumentUpload.objects.get().pk, timezone.now() + n * SILENT)
    upload = DocumentUpload.objects.get()
    assert (upload.state, upload.message, upload.attempts) == (WorkState.FAILED, BROKEN, 3)
    page = rita.get("/corpora/the-handbook/").content.decode()
    assert "broke on our side" in page
    again = f"/try-again/upload/{upload.pk}/"
    assert f'action="{again}"' in page
    rita.post(again)
    read_all()
    upload.refresh_from_db()
    assert (upload.state, upload.outcome["added"]) == (WorkState.DONE, ["a.txt"])
    assert list((home / "uploads").iterdir()) == []


def test_what_is_not_tried_again_for_a_week_goes(rita: Client, home: Path) -> None:
    send(rita, documents=[sent("a.txt", prose(4))])
    now = timezone.now()
    DocumentUpload.objects.update(state=WorkState.FAILED, attempts=3, ended_at=now)
    assert uploads.unneeded_files() == []
    DocumentUpload.objects.update(ended_at=now - uploads.KEPT)
    uploads.remove_files()
    assert list((home / "uploads").iterdir()) == []
    # From a page of the week before.
    rita.post(f"/try-again/upload/{DocumentUpload.objects.get().pk}/")
    read_all()
    page = rita.get("/corpora/the-handbook/").content.decode()
    assert "The files did not all arrive, or are gone: send them again." in page


@pytest.mark.parametrize("path", ["a\0.txt", "b/" * 1500 + "a.txt"], ids=["end", "depth"])
def test_a_path_that_no_browser_sends_is_kept_as_far_as_it_can_be(
    rita: Client, home: Path, path: str
) -> None:
    send(rita, folder=[sent("a.txt", prose(4))], path=[path])
    read_all()
    upload = DocumentUpload.objects.get()
    assert (upload.state, len(upload.outcome["added"])) == (WorkState.DONE, 1)
    assert list((home / "uploads").iterdir()) == []


def test_a_corpus_that_is_removed_takes_files_along_that_were_kept(
    rita: Client, home: Path
) -> None:
    send(rita, documents=[sent("a.txt", prose(4))])
    read_all()
    send(rita, "/corpora/the-handbook/add/", documents=[sent("b.txt", prose(4))])
    broken = DocumentUpload.objects.filter(state=WorkState.WAITING)
    broken.update(state=WorkState.FAILED, attempts=3, ended_at=timezone.now())
    assert len(list((home / "uploads").iterdir())) == 1
    uploads.remove_corpus(Corpus.objects.get())
    assert list((home / "uploads").iterdir()) == []


def test_files_that_do_not_all_arrive_leave_nothing(
    rita: Client, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(*given: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as full:
        full.setattr(uploads, "_keep", die)
        with pytest.raises(KeyboardInterrupt):
            send(rita, documents=[sent("a.txt", prose(4))])
    assert not DocumentUpload.objects.exists()
    assert list((home / "uploads").iterdir()) == []
    # Killed: what would have removed them was not reached.
    send(rita, documents=[sent("a.txt", prose(4))])
    DocumentUpload.objects.update(n_files=None, state=WorkState.RUNNING, free_at=timezone.now())
    assert "The files are arriving." in rita.get("/corpora/the-handbook/").content.decode()
    read_all()
    page = rita.get("/corpora/the-handbook/").content.decode()
    assert "The files did not all arrive, or are gone: send them again." in page
    assert list((home / "uploads").iterdir()) == []


def test_what_a_try_stored_before_it_died_is_told_with_the_rest(
    rita: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    send(rita, documents=[sent(name, prose(4, name)) for name in ("a.txt", "b.txt", "c.txt")])
    monkeypatch.setattr(ingestion, "BATCH", 1)
    store, stored = ingestion._store, []

    def die_at_the_third(*given: Any) -> Any:
        stored.append(given)
        if len(stored) == 3:
            raise RuntimeError
        return store(*given)

    monkeypatch.setattr(ingestion, "_store", die_at_the_third)
    read_all()
    assert Document.objects.count() == 2
    # As after the third try.
    rows = DocumentUpload.objects
    rows.update(state=WorkState.FAILED)
    page = rita.get("/corpora/the-handbook/").content.decode()
    assert "Not all of it was imported." in page
    assert "Nothing was imported." not in page
    rows.update(state=WorkState.WAITING)
    uploads.read_upload(DocumentUpload.objects.get().pk, timezone.now() + SILENT)
    outcome = DocumentUpload.objects.get().outcome
    assert (sorted(outcome["added"]), outcome["unchanged"]) == (["a.txt", "b.txt", "c.txt"], 0)


def test_an_upload_that_nobody_is_at_any_more_is_taken_up_again(rita: Client) -> None:
    send(rita, documents=[sent("a.txt", prose(4))])
    long_ago = timezone.now() - SILENT
    DocumentUpload.objects.update(state=WorkState.RUNNING, claim="dead", free_at=long_ago)
    pk = DocumentUpload.objects.get().pk
    work_on(pk, "another")
    assert not Corpus.objects.exists()
    read_all()
    assert DocumentUpload.objects.get().state == WorkState.DONE


def test_what_is_read_leaves_no_file_where_who_had_it_read_was_killed(
    rita: Client, home: Path
) -> None:
    send(rita, documents=[sent("a.txt", prose(4))])
    upload = DocumentUpload.take(DocumentUpload.objects.get().pk, timezone.now())
    assert upload is not None
    work_on(upload.pk, upload.claim)
    assert DocumentUpload.objects.get().state == WorkState.DONE
    assert list((home / "uploads").iterdir()) == []


def test_an_upload_is_read_where_its_home_was_moved_to(
    rita: Client, home: Path, settings: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    send(rita, documents=[sent("a.txt", prose(4))])
    settings.HOME = tmp_path_factory.mktemp("other") / "home"
    home.rename(settings.HOME)
    read_all()
    assert DocumentUpload.objects.get().state == WorkState.DONE
    assert list((settings.HOME / "uploads").iterdir()) == []


def test_what_is_not_there_is_not_found(rita: Client) -> None:
    for page in ("/corpora/none/", "/corpora/none/add/", "/corpora/none/documents/1/"):
        assert rita.get(page).status_code == 404
    wiki = Corpus.objects.create(slug="wiki", name="A wiki", language="en", state="ready")
    assert rita.get("/corpora/wiki/add/").url == "/corpora/wiki/"  # type: ignore[attr-defined]
    page = rita.get(f"/corpora/{wiki.slug}/").content.decode()
    assert "Add documents" not in page
    assert "no collection yet" in page


def test_the_title_of_a_passage_runs_as_its_text_does() -> None:
    passage = Passage("دليل", "الجزء", "ar", "rtl", pieces(ARABIC, []))
    page = render_to_string("dashboard/parts/passage.html", {"passage": passage})
    assert '<h3 class="passage-title" lang="ar" dir="rtl">دليل' in page
    assert f'<p class="passage-text" lang="ar" dir="rtl">{ARABIC}</p>' in page


def test_a_document_sent_by_mistake_is_removed_with_all_that_has_its_words(
    rita: Client, home: Path
) -> None:
    secret = "The salary of the harbour master is told to nobody. "
    send(rita, documents=[sent("a.txt", prose(6)), sent("salaries.txt", secret * 9)])
    read_all()
    corpus = Corpus.objects.get()
    build_passages(corpus)
    article = Document.objects.get(external_id="salaries.txt").article
    page = f"/corpora/the-handbook/documents/{article.page_id}/"
    assert "Remove this document" in rita.get(page).content.decode()
    for _ in range(2):
        done = rita.post(f"{page}remove/", {"article": article.pk}, follow=True).content.decode()
        assert "its text is in no row and no index any more" in done
        assert "salaries" not in done
    corpus.refresh_from_db()
    assert (corpus.counts["documents"], corpus.source) == (1, "a.txt")
    assert not Paragraph.objects.filter(text__contains="salary").exists()
    assert "salaries" not in json.dumps(DocumentUpload.objects.get().outcome)
    assert not any(b"salary" in each.read_bytes() for each in home.rglob("*") if each.is_file())


def test_what_was_said_of_a_removed_document_beside_others_goes_with_it(
    rita: Client, home: Path
) -> None:
    send(rita, documents=[sent(name, prose(9)) for name in ("a.txt", "pay.txt", "z.txt")])
    read_all()
    upload = DocumentUpload.objects.get()
    assert "pay.txt" in upload.outcome["notes"][0]
    article = Document.objects.get(external_id="pay.txt").article
    page = f"/corpora/the-handbook/documents/{article.page_id}/"
    rita.post(f"{page}remove/", {"article": article.pk})
    upload.refresh_from_db()
    assert (upload.outcome["notes"], upload.outcome["added"]) == ([], ["a.txt", "z.txt"])


def test_what_is_indexed_until_a_removal_is_stored_goes_with_it(
    rita: Client,
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: Any,
) -> None:
    send(rita, documents=[sent("a.txt", prose(6)), sent("b.txt", prose(5, "b "))])
    read_all()
    article = Document.objects.get(external_id="b.txt").article
    page = f"/corpora/the-handbook/documents/{article.page_id}/remove/"

    def build(corpus: Corpus) -> None:
        folder_of(corpus).mkdir(parents=True, exist_ok=True)
        (folder_of(corpus) / "of-another-process.passages").write_text("b")

    monkeypatch.setattr(corpus_views, "forget_rehearsals", build)
    with django_capture_on_commit_callbacks(execute=True):
        rita.post(page, {"article": article.pk})
    assert not [each for each in home.rglob("*") if each.is_file() and "retrieval" in each.parts]


def test_thousands_of_documents_are_forgotten_in_what_is_said_of_thousands(rita: Client) -> None:
    names = [f"files/{number}.html" for number in range(3_000)]
    send(rita, documents=[sent("a.txt", prose(6))])
    read_all()
    notes = [f"{name}: 2 tables are left out." for name in (*names, "files/3.html.html")]
    notes.append(f"x, y.txt, and z, {names[7]} and q have the same text.")
    DocumentUpload.objects.update(outcome={"added": [*names, "a.txt"], "notes": notes})
    began = perf_counter()
    uploads._forget(Corpus.objects.get(), names)
    assert perf_counter() - began < 3
    told = DocumentUpload.objects.get().outcome
    assert told == {"added": ["a.txt"], "notes": ["files/3.html.html: 2 tables are left out."]}


def test_a_removal_that_dies_before_it_is_stored_leaves_no_index_of_before(
    rita: Client, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(corpus: Corpus) -> None:
        raise KeyboardInterrupt

    send(rita, documents=[sent("a.txt", prose(6)), sent("b.txt", prose(5, "b "))])
    read_all()
    build_passages(Corpus.objects.get())
    monkeypatch.setattr(uploads, "count_again", die)
    with pytest.raises(KeyboardInterrupt):
        uploads.remove_document(Article.objects.order_by("page_id")[0])
    assert Article.objects.count() == 2
    assert not [each for each in home.rglob("*") if each.is_file() and "retrieval" in each.parts]


def test_a_document_that_workers_can_be_shown_stays_and_says_for_which_collection(
    rita: Client,
) -> None:
    send(rita, documents=[sent("a.txt", prose(6)), sent("b.txt", prose(5, "b "))])
    read_all()
    pilot = make_collection(Corpus.objects.get())
    Collection.objects.update(state="draft")
    shown, other = Article.objects.order_by("page_id")
    seed = Seed.objects.create(
        collection=pilot, key="s", position=1, stage=pilot.stages.all()[0], payload={}
    )
    SeedParagraph.objects.create(seed=seed, paragraph=shown.paragraphs.all()[0], position=0)
    kept, gone = (f"/corpora/the-handbook/documents/{one.page_id}/" for one in (shown, other))
    assert f'">{pilot.title}</a> may show it to workers' in rita.get(kept).content.decode()
    assert (
        "It stays"
        in rita.post(f"{kept}remove/", {"article": shown.pk}, follow=True).content.decode()
    )
    rehearsal = Rehearsal.objects.create(
        collection=pilot, n_workers=3, state="done", by="rita", asked_at=timezone.now()
    )
    rehearsal.pages.create(position=1, moment="Before", html="What the other document says.")
    rita.post(f"{gone}remove/", {"article": other.pk})
    assert Article.objects.get() == shown
    assert not RehearsalPage.objects.exists()
    Collection.objects.update(state="collecting")
    assert "Remove this document</button>" not in rita.get(kept).content.decode()
    named = rita.post("/corpora/the-handbook/remove/", {"slug": "the-handbook"}, follow=True)
    assert "It stays" in named.content.decode()


def test_a_corpus_is_removed_when_its_short_name_is_typed(rita: Client, home: Path) -> None:
    send(rita, documents=[sent("a.txt", prose(6))])
    read_all()
    build_passages(Corpus.objects.get())
    page = "/corpora/the-handbook/"
    wrong = rita.post(f"{page}remove/", {"slug": "handbook"}, follow=True).content.decode()
    assert "Type its short name, the-handbook, to remove it." in wrong
    for _ in range(2):
        done = rita.post(f"{page}remove/", {"slug": "the-handbook"}, follow=True)
        assert "Removed: its documents are in no row" in done.content.decode()
    for model in (Corpus, Article, Paragraph, DocumentUpload):
        assert not model.objects.exists()
    assert not [each for each in home.rglob("*") if each.is_file() and "retrieval" in each.parts]
    assert rita.get(page).status_code == 404


def test_a_corpus_that_a_colleague_removes_meanwhile_says_so(rita: Client) -> None:
    send(rita, documents=[sent("a.txt", prose(6))])
    read_all()
    mine, theirs = Corpus.objects.get(), Corpus.objects.get()
    uploads.remove_corpus(theirs)
    with pytest.raises(ActionError, match="removed a moment ago"):
        uploads.remove_corpus(mine)


def test_documents_are_sought_by_their_words_and_sorted(rita: Client) -> None:
    given = {"b.txt": 9, "a.txt": 3, "tower.txt": 6}
    send(rita, documents=[sent(name, prose(n, f"{name[0]} ")) for name, n in given.items()])
    read_all()
    page = "/corpora/the-handbook/"

    def shown(address: str) -> list[str]:
        return re.findall(
            r'<td class="id" data-of="Id"><bdi>(.*?)</bdi>', rita.get(address).content.decode()
        )

    assert shown(page) == ["a.txt", "b.txt", "tower.txt"]
    assert shown(f"{page}?q=TOW&sort=title") == ["tower.txt"]
    assert shown(f"{page}?sort=nothing") == ["a.txt", "b.txt", "tower.txt"]
    none = rita.get(f"{page}?q=nowhere").content.decode()
    assert "None has these words." in none
    assert 'value="nowhere"' in none


def test_an_archive_in_another_and_an_empty_file_are_told_as_what_they_are(rita: Client) -> None:
    inner, outer = BytesIO(), BytesIO()
    with ZipFile(inner, "w") as archive:
        archive.writestr("a.txt", prose(5))
    with ZipFile(outer, "w") as archive:
        archive.writestr("inner.zip", inner.getvalue())
        archive.writestr("empty.docx", "")
        archive.writestr("b.txt", prose(5))
    send(rita, documents=[SimpleUploadedFile("all.zip", outer.getvalue())])
    read_all()
    page = rita.get("/corpora/the-handbook/").content.decode()
    assert "inner.zip is an archive inside another: unpack it and give its files." in page
    assert "empty.docx is empty." in page


def test_a_corpus_counts_paragraphs_and_items_of_lists_apart_as_its_documents_do(
    rita: Client,
) -> None:
    listed = "\n\n".join([prose(6), "* The first keeper.\n* The second keeper.", prose(6)])
    send(rita, documents=[sent("a.txt", listed), sent("b.txt", prose(3))])
    read_all()
    page = rita.get("/corpora/the-handbook/").content.decode()
    told = re.search(r"([\d,]+) paragraphs, ([\d,]+) items of lists", page)
    assert told
    for column, number in zip(("Paragraphs", "Items of lists"), told.groups(), strict=True):
        cells = re.findall(rf'data-of="{column}">([\d,]*)<', page)
        assert sum(int(cell or 0) for cell in cells) == int(number) > 0


def test_a_collection_over_documents_begins_with_what_is_for_them_and_without_a_budget(
    rita: Client,
) -> None:
    send(rita, documents=[sent("a.txt", prose(6))])
    read_all()
    page = rita.get("/collections/new/?corpus=the-handbook").content.decode()
    assert '<option value="rag" selected>' in page
    assert 'name="budget" value="0' not in page
    Corpus.objects.create(slug="wiki", name="A wiki", language="en", state="ready")
    page = rita.get("/collections/new/?corpus=wiki").content.decode()
    assert '<option value="iirc" selected>' in page
    sorts = re.findall(r'<option value="(\w*)"', rita.get("/corpora/wiki/?q=a").content.decode())
    assert sorts == ["", "paragraphs"]
