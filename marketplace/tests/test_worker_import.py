"""Lists of people become workers: planned first, safe to repeat, a sentence for each row."""

from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, connections

from common.spreadsheet import UploadError, read_table, text_of
from marketplace import clock
from marketplace.erasure import erase
from marketplace.models import (
    AuditEntry,
    Worker,
    WorkerGroup,
    WorkerProfile,
)
from marketplace.people import worker_import
from marketplace.people.grants import GroupError, make_group
from marketplace.people.worker_import import Outcome, Report, WorkerUpsert, import_workers
from marketplace.tests.visitor import Visitor

PEOPLE = (
    "name,mail,mturk id,prolific_id,language,qualifications,notes,favourite\n"
    "Ada,Ada@Example.org,A1OLD,,en,Spring class; Reader=85,came with the pilot,plums\n"
    "Grace,grace@example.org,,5f0,de,Spring class,,\n"
)


def imported(text: str, *, is_dry: bool = False) -> Report:
    return import_workers(text, clock.now(), is_dry=is_dry)


def outcomes(report: Report) -> list[str]:
    return [line.outcome.value for line in report.lines]


def test_a_dry_run_reports_everything_and_keeps_nothing() -> None:
    report = imported(PEOPLE, is_dry=True)
    assert outcomes(report) == ["new worker", "new worker"]
    assert report.new_groups == ["Reader", "Spring class"]
    assert report.ignored == ["favourite"]
    assert not Worker.objects.exists()
    assert not WorkerGroup.objects.exists()


def test_an_import_is_safe_to_repeat() -> None:
    imported(PEOPLE)
    ada = Worker.objects.get(display_name="Ada")
    assert (ada.profile.mail, ada.profile.mturk_id, ada.language) == (
        "ada@example.org",
        "A1OLD",
        "en",
    )
    scores = dict(ada.grants.values_list("qualification_type__name", "integer_value"))
    assert scores == {"Spring class": 1, "Reader": 85}
    again = imported(PEOPLE)
    assert outcomes(again) == ["nothing to do", "nothing to do"]
    assert again.n_to_do == 0
    assert Worker.objects.count() == 2


def test_a_changed_row_says_what_changes_and_empty_cells_change_nothing() -> None:
    imported(PEOPLE)
    report = imported("mail,name,notes,qualifications\nada@example.org,Ada L.,,Reader=90\n")
    assert outcomes(report) == ["changed"]
    assert report.lines[0].sentences == ["The name becomes Ada L..", "Gets “Reader” with 90."]
    ada = Worker.objects.get(display_name="Ada L.")
    assert ada.profile.notes == "came with the pilot"


def test_what_a_worker_chose_stays_as_it_is() -> None:
    imported(PEOPLE)
    Worker.objects.filter(display_name="Ada").update(language="de", country="AT")
    report = imported("mail,language,country\nada@example.org,en,GB\n")
    assert outcomes(report) == ["nothing to do"]
    report = imported("mail,country\nada@example.org,AT-9x\ngrace@example.org,US-ca\n")
    assert report.lines[0].sentences == ["The state or region becomes 9X."]
    grace = Worker.objects.get(display_name="Grace")
    assert (grace.country, grace.subdivision) == ("US", "CA")
    assert outcomes(imported("mail,country\nada@example.org,GB-LN\n")) == ["nothing to do"]


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ("Ida,,,,", "Give a mail address, an old MTurk id or an old Prolific id."),
        (",new@example.org,,,", "Give the name of a new worker."),
        ("Ida,not a mail,,,", "“not a mail” is not a mail address."),
        ("Ida,i@example.org,,,Germany", "Write the country as two letters, like DE or US."),
        ("Ida,i@example.org,,,US-ZZ", "Write a part of a country by its code, like US-CA."),
        ("Ida,i@example.org,,Reader=lots,", "Write “Reader=lots” as a name"),
        ("Ida,i@example.org,,=3,", "Write “=3” as a name"),
        ("Ida,ada@example.org,G-1,,", "This row fits two accounts"),
        (f"{'x' * 81},i@example.org,,,", "The name is longer than 80 characters."),
    ],
)
def test_a_row_with_a_problem_is_left_out_and_says_why(row: str, problem: str) -> None:
    imported("name,mail,mturk_id\nAda,ada@example.org,\nGrace,grace@example.org,G-1\n")
    report = imported(f"name,mail,mturk_id,qualifications,country\n{row}\nEve,e@example.org,,,\n")
    assert outcomes(report) == ["left out", "new worker"]
    assert problem in report.lines[0].sentences[0]


def test_a_file_that_names_somebody_twice_says_which_row() -> None:
    report = imported("name,mail\nAda,a@example.org\nAda too,A@example.org\n")
    assert report.lines[1].sentences == ["Row 2 has the same mail already."]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "The file is empty"),
        ("name,notes\nAda,x\n", "No column says who is who"),
        ("name,mail,e-mail\nAda,x,y\n", "Two columns mean mail"),
        ("name,mail,mail\nAda,x,y\n", "The column mail is there twice"),
        ("name,,mail\nAda,x,y\n", "Every column needs a name"),
        ("name,mail\nAda,x@example.org,loose\n", "Row 2 has more cells"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_whole(text: str, problem: str) -> None:
    with pytest.raises(UploadError, match=problem):
        imported(text)


def test_files_come_in_any_usual_spelling() -> None:
    text = 'name;mail\r\n"Zoë; the elder";z@example.org\r\n;\r\n'
    for content in (text.encode("utf-8-sig"), text.encode("utf-16"), text.encode("cp1252")):
        table = read_table(text_of(content))
        assert table.lines == [(2, {"name": "Zoë; the elder", "mail": "z@example.org"})]
    with pytest.raises(UploadError, match="not a CSV"):
        text_of(b"PK\x03\x04\x00\x00")
    with pytest.raises(UploadError, match="10 MB"):
        text_of(b"x" * 10_000_001)


def test_the_command_reports_first_and_imports_when_told(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "people.csv"
    path.write_text(PEOPLE)
    call_command("import_workers", str(path))
    assert "Nothing was changed; with --apply: 2 new" in capsys.readouterr().out
    assert not Worker.objects.exists()
    call_command("import_workers", str(path), apply=True, json=True)
    assert Worker.objects.count() == 2
    path.write_text("name,mail\nIda,\n")
    with pytest.raises(CommandError, match="1 rows were left out"):
        call_command("import_workers", str(path), apply=True)
    with pytest.raises(CommandError, match="No such file"):
        call_command("import_workers", str(tmp_path / "none.csv"))


def test_a_long_file_comes_in_by_parts_and_goes_on_where_it_was_cut_short(
    monkeypatch: Any, django_assert_max_num_queries: Any
) -> None:
    monkeypatch.setattr(worker_import, "AT_ONCE", 2)
    rows = [f"Worker {n},w{n}@example.org,Panel\n" for n in range(5)]
    text = "name,mail,qualifications\n" + "".join(rows)
    kept, n_kept = WorkerUpsert.keep, []

    def cut(book: WorkerUpsert) -> None:
        n_kept.append(book)
        if len(n_kept) == 3:
            raise KeyboardInterrupt
        kept(book)

    monkeypatch.setattr(WorkerUpsert, "keep", cut)
    with pytest.raises(KeyboardInterrupt):
        import_workers(text, clock.now(), is_dry=False, by="Ida")
    assert Worker.objects.count() == 4
    monkeypatch.setattr(WorkerUpsert, "keep", kept)
    report = import_workers(text, clock.now(), is_dry=False, by="Ida")
    assert report.summary == "1 new, 0 changed, 4 as they were, 0 left out"
    told = list(AuditEntry.objects.order_by("pk").values_list("what", flat=True))
    assert told[1].startswith("Imported workers, rows 4 to 5: 2 new")
    assert len(told) == 5
    monkeypatch.setattr(worker_import, "AT_ONCE", 1000)
    more = text + "".join(f"More {n},m{n}@example.org,Panel\n" for n in range(400))
    with django_assert_max_num_queries(60, connection=connections["marketplace"]):
        assert imported(more).count(Outcome.NEW) == 400


def test_rows_of_one_part_see_what_the_rows_before_brought() -> None:
    imported("name,mail,mturk_id,qualifications\nAda,a@x.org,A1,P\nGrace,g@x.org,A2,P\n")
    assert imported("mail,mturk_id\na@x.org,A3\n").lines[0].outcome == Outcome.CHANGED
    both = "mail,mturk_id,qualifications\nb@x.org,A3,P=5\n,A1,P=6\n"
    both += "a@x.org,,P=7\n"
    # Neither A1 nor the old mail address is anybody's any more.
    assert outcomes(imported(both)) == ["changed", "left out", "left out"]
    assert Worker.objects.get(profile__mail="b@x.org").grants.get().integer_value == 5
    assert WorkerProfile.objects.filter(mail="a@x.org").count() == 0


def test_a_race_with_another_import_is_tried_again(monkeypatch: Any) -> None:
    kept = WorkerUpsert.keep

    def raced(book: WorkerUpsert) -> None:
        monkeypatch.setattr(WorkerUpsert, "keep", kept)
        worker = Worker.objects.create(display_name="Ada", created_at=clock.now())
        WorkerProfile.objects.create(worker=worker, mail="a@x.org")
        raise IntegrityError

    monkeypatch.setattr(WorkerUpsert, "keep", raced)
    assert outcomes(imported("name,mail\nAda,a@x.org\n")) == ["new worker"]
    assert Worker.objects.count() == 1


def test_a_group_has_one_name() -> None:
    made = make_group("Spring class", "", clock.now())
    text = "name,mail,qualifications\nAda,a@example.org,spring  CLASS ;Spring class=2\n"
    assert imported(text).new_groups == []
    assert WorkerGroup.objects.get() == made
    for name in ("Spring class", "", "x" * 201):
        with pytest.raises(GroupError):
            make_group(name, "", clock.now())


def test_an_erased_account_gets_no_name_again(ada: Visitor) -> None:
    worker = ada.worker
    erase(worker, clock.now())
    row = f"worker_id,name,mail\n{worker.worker_id},Ada,ada@lab.example\n"
    [line] = import_workers(row, clock.now(), is_dry=False).lines
    assert line.outcome == Outcome.PROBLEM
    assert "was erased" in line.sentences[0]
    assert not WorkerProfile.objects.filter(mail="ada@lab.example").exists()
