"""What stops a command from outside is told in one line, and wrong numbers are refused."""

import re
import sys
from argparse import ArgumentParser, ArgumentTypeError
from io import StringIO
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.management import CommandError, call_command
from django.db import DataError, OperationalError, ProgrammingError

from common import command_line
from common.actions import ActionError
from common.command_line import Printout, ResultCommand
from common.storable import NotStorable

pytestmark = pytest.mark.pure


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OperationalError("no such table: collector_corpus"), "First: make it"),
        (ProgrammingError("column is of another kind:\nLINE 1"), "does not answer"),
        (OperationalError("connection to server failed:\n refused"), "does not answer"),
        (OperationalError('database "x" does not exist'), "does not answer"),
        (OperationalError("database is locked"), "Another process has been writing"),
        (DataError("value too long for type"), "too long or too large"),
        (OverflowError("Python int too large"), "too long or too large"),
        (RecursionError("maximum recursion depth"), "nested too deeply"),
        (UnicodeEncodeError("utf-8", "\udcff", 0, 1, "surrogates"), "no text in UTF-8"),
        (FileNotFoundError(2, "No such file or directory", "/x"), "/x: it cannot be read or"),
        (ImproperlyConfigured("PORT: write a number."), "PORT: write a number."),
        (NotStorable("The name 'x' cannot be kept: it is taken."), "cannot be kept"),
    ],
)
def test_what_stops_a_command_is_one_line(
    error: Exception, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: object) -> None:
        raise error

    monkeypatch.setattr(command_line, "execute_from_command_line", fail)
    with pytest.raises(SystemExit) as end:
        command_line.run_command(["manage.py", "x"], "collector.settings", "make it")
    assert said in str(end.value.code)
    assert "\n" not in str(end.value.code)


def test_a_fault_of_ours_stays_loud(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command_line, "execute_from_command_line", sys.intern)
    with pytest.raises(TypeError):
        command_line.run_command(["manage.py", "x"], "collector.settings", "make it")


def test_amounts_and_numbers_are_what_can_be_meant() -> None:
    assert command_line.amount("12.50") * 100 == 1250
    assert command_line.seed("-3") == -3
    for text in ("abc", "", "-1", "nan", "inf", "1e99", "1,5"):
        with pytest.raises(ArgumentTypeError, match="is no amount"):
            command_line.amount(text)
    for text in ("9" * 30, "9" * 5000, "1.5", "", "x"):
        with pytest.raises(ArgumentTypeError, match="write a whole number"):
            command_line.seed(text)
    with pytest.raises(ArgumentTypeError, match="from 1 to 1000"):
        command_line.processes("0")


class Doubled(ResultCommand):
    """doubled NUMBER."""

    help = "Double a number.\n\nExample: doubled 4"
    refusals = (ActionError, OSError)

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("number", type=int)

    def result(self, options: dict[str, Any]) -> Printout:
        number = options["number"]
        if number < 0:
            raise ActionError("Give a number from 0.")
        if number == 0:
            raise FileNotFoundError(2, "No such file", "numbers.txt")
        if number > 9:
            self.problem = "It is large."
        return {"doubled": 2 * number}, [f"Twice {number}:", str(2 * number)]


def printed(*arguments: str) -> str:
    out = StringIO()
    call_command(Doubled(), *arguments, stdout=out, stderr=StringIO())
    return out.getvalue()


def test_a_result_is_printed_for_people_or_as_json() -> None:
    assert printed("4") == "Twice 4:\n8\n"
    assert printed("4", "--json") == '{"doubled": 8}\n'


@pytest.mark.parametrize(
    ("number", "sentence"), [("-1", "Give a number from 0."), ("0", "numbers.txt: No such file.")]
)
def test_a_refusal_is_one_sentence(number: str, sentence: str) -> None:
    with pytest.raises(CommandError, match=f"^{re.escape(sentence)}$"):
        printed("--", number)


def test_what_is_wrong_with_a_result_is_said_after_it() -> None:
    out = StringIO()
    with pytest.raises(CommandError, match=r"^It is large\.$"):
        call_command(Doubled(), "10", "--json", stdout=out)
    assert out.getvalue() == '{"doubled": 20}\n'


def test_help_that_is_written_in_lines_keeps_them() -> None:
    text = Doubled().create_parser("manage.py", "doubled").format_help()
    assert "\nExample: doubled 4\n" in text
    assert "--json" in text
