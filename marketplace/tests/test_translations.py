"""Every sentence of the worker's site is there in German, and the compiled file is up to date."""

import ast
import re
from collections.abc import Iterator
from gettext import GNUTranslations
from pathlib import Path

import pytest
from django.utils.translation.template import templatize

ROOT = Path(__file__).resolve().parent.parent
FILES = ROOT / "locale/de/LC_MESSAGES"
MARKS = {"_", "gettext", "gettext_noop", "ngettext"}
PLACE = re.compile(r"%\(\w+\)s|\{\w+\}")
pytestmark = pytest.mark.pure


def sentences() -> Iterator[str]:
    """Yield every English sentence that is marked for translation, in code and in templates."""
    for path in ROOT.rglob("*.py"):
        if "tests" not in path.parts:
            yield from marked_in(path.read_text("utf-8"))
    for path in (ROOT / "templates").rglob("*.html"):
        calls = re.findall(
            r"""\bn?gettext\((u?'(?:[^'\\]|\\.)*'|u?"(?:[^"\\]|\\.)*")""",
            templatize(path.read_text("utf-8")),
        )
        yield from (ast.literal_eval(call) for call in calls)


def marked_in(code: str) -> Iterator[str]:
    """Yield the first arguments of the marking functions."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in MARKS and node.args:
            first = node.args[0]
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                yield first.value


def entries() -> dict[str, list[str]]:
    """Return what the readable file says: English to German, the plural as a second one."""
    found: dict[str, list[str]] = {}
    key = ""
    for line in (FILES / "django.po").read_text("utf-8").splitlines():
        if line.startswith("msgid "):
            key = ast.literal_eval(line.removeprefix("msgid "))
        elif match := re.match(r"msgstr(?:\[\d\])? (.*)", line):
            found.setdefault(key, []).append(ast.literal_eval(match[1]))
    found.pop("")
    return found


def test_every_sentence_is_translated() -> None:
    assert {one for one in sentences() if one} - set(entries()) == set()


def test_no_translation_is_left_over() -> None:
    assert set(entries()) - set(sentences()) == set()


def test_what_is_filled_in_is_the_same() -> None:
    for english, german in entries().items():
        for one in german:
            assert set(PLACE.findall(one)) == set(PLACE.findall(english)) or len(german) == 2
            assert one.strip()


def test_the_compiled_file_says_the_same() -> None:
    with (FILES / "django.mo").open("rb") as file:
        compiled = GNUTranslations(file)
    for english, german in entries().items():
        if len(german) == 1:
            assert compiled.gettext(english) == german[0], "run msgfmt over django.po"
        else:
            assert [compiled.ngettext(english, english, n) for n in (1, 2)] == german
