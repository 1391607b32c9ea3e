"""Lists of people become workers: planned first, safe to repeat, a sentence for each row."""

from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from marketplace import clock
from marketplace.erasure import erase
from marketplace.models import (
    Worker,
    WorkerGroup,
    WorkerProfile,
)
from marketplace.people.groups import GroupError, group_named, make_group
from marketplace.people.importing import Outcome, Report, import_workers
from marketplace.tests.visitor import Visitor
from marketplace.uploads import UploadError, read_table, text_of

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


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ("Ida,,,,", "Give a mail address, an old MTurk id or an old Prolific id."),
        (",new@example.org,,,", "Give the name of a new worker."),
        ("Ida,not a mail,,,", "“not a mail” is not a mail address."),
        ("Ida,i@example.org,,,Germany", "Write the country as two letters, like DE or US."),
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


def test_a_group_has_one_name() -> None:
    made = make_group("Spring class", "", clock.now())
    assert group_named("spring CLASS ", clock.now()) == made
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
