"""What a newcomer reads is whole: commands, settings, protocols; and every page has a test."""

import argparse
import re
from pathlib import Path

import pytest
from django.core.management import get_commands, load_command_class
from django.urls import URLPattern, URLResolver, get_resolver

from annotation.protocols.tests.folders import PROTOCOLS
from collector.environment import Environment
from common.commands import MANAGE

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text("utf-8")
ROOMS = ("common", "collector", "tasks", "annotation", "marketplace")
COMMANDS = {name: app for name, app in get_commands().items() if app in ROOMS}
# They run until they are stopped, or print a whole day of other commands.
PRINT_NO_RESULT = {"run", "serve", "demo"}

of_command = pytest.mark.parametrize("name", sorted(COMMANDS))


def parser_of(name: str) -> argparse.ArgumentParser:
    """Return the parser of one of our commands."""
    return load_command_class(COMMANDS[name], name).create_parser("manage.py", name)


def test_there_are_commands() -> None:
    assert len(COMMANDS) > 10


@of_command
def test_the_readme_names_the_command(name: str) -> None:
    assert re.search(rf"(manage\.py |`){name}\b", README)


@of_command
def test_its_help_shows_an_example_of_itself(name: str) -> None:
    words = " ".join(parser_of(name).format_help().split())
    example = words.partition("Example: ")[2]
    assert f"manage.py {name}" in example


@of_command
def test_it_prints_json_where_it_prints_results(name: str) -> None:
    options = {option for action in parser_of(name)._actions for option in action.option_strings}
    assert ("--json" in options) == (name not in PRINT_NO_RESULT)


@pytest.mark.parametrize("name", Environment.model_fields)
def test_the_readme_explains_the_setting(name: str) -> None:
    assert re.search(rf"^\| `{name}` \| .+ \| .+ \|$", README, re.MULTILINE)


def test_the_readme_explains_no_setting_that_is_not_read() -> None:
    told = set(re.findall(r"^\| `([A-Z_]+)` \|", README, re.MULTILINE))
    assert told == set(Environment.model_fields)


def printed() -> dict[str, str]:
    """Return by path whatever prints a command, or tells one to a reader."""
    paths = [ROOT / "README.md", ROOT / "deploy" / "README.md", ROOT / "manage.py"]
    for room in (*ROOMS, "templates"):
        for end in ("py", "html", "md"):
            paths += [path for path in (ROOT / room).rglob(f"*.{end}") if "tests" not in path.parts]
    return {str(path.relative_to(ROOT)): path.read_text("utf-8") for path in paths}


def test_a_command_is_named_with_its_interpreter_in_one_way_and_in_one_place() -> None:
    other = re.compile(r"(?<!\.venv/bin/python )(?<!collector-web python )\bmanage\.py [a-z]")
    own = re.compile(r"\bmanage\.py [a-z]")
    texts = printed()
    assert len(texts) > 500
    of_code = {path: text for path, text in texts.items() if path.endswith((".py", ".html"))}
    of_code.pop("manage.py")
    assert [path for path, text in texts.items() if other.search(text)] == []
    assert [path for path, text in of_code.items() if own.search(text)] == []
    assert MANAGE == ".venv/bin/python manage.py"


def test_a_command_of_the_readme_can_be_pasted_with_what_is_said_of_it() -> None:
    for block in re.findall(r"^```\n(.*?)^```", README, re.MULTILINE | re.DOTALL):
        for line in block.splitlines():
            assert MANAGE not in line or not re.search(r" {2,}[^#\s]", line), line


def test_help_offers_no_command_that_needs_what_is_not_installed() -> None:
    assert "generateschema" not in get_commands()


def test_the_readme_leads_to_every_protocol() -> None:
    for protocol in PROTOCOLS:
        if protocol.folder.parent.parent.name == "annotation":
            assert f"annotation/protocols/{protocol.name}/README.md" in README


def test_the_readme_names_no_file_that_is_not_there() -> None:
    links = re.findall(r"\]\((?!https?:|#)([^)]+)\)", README)
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []


def routes() -> dict[str, tuple[str, str]]:
    """Return the name of every page of Collector with its whole address and its last part."""

    def found(
        entries: list[URLPattern | URLResolver], before: str
    ) -> list[tuple[str, tuple[str, str]]]:
        pairs = []
        for entry in entries:
            route = str(entry.pattern)
            if isinstance(entry, URLResolver):
                pairs += found(entry.url_patterns, before + route)
            elif entry.name:
                pairs.append((entry.name, (before + route, route)))
        return pairs

    return dict(found(get_resolver("collector.urls").url_patterns, "/"))


def tests() -> str:
    """Return the source of all tests but this one."""
    own = Path(__file__)
    paths = [path for room in (*ROOMS, "tests") for path in (ROOT / room).rglob("*.py")]
    return "\n".join(
        path.read_text("utf-8")
        for path in paths
        if "tests" in path.relative_to(ROOT).parts and path != own
    )


def test_every_page_has_a_test_that_opens_it() -> None:
    source = tests()
    untouched = [
        name
        for name, (whole, part) in routes().items()
        if not re.search("|".join((*_addresses(whole, part), f"[\"']{name}[\"']")), source)
    ]
    assert untouched == []


def _addresses(whole: str, part: str) -> list[str]:
    """Return what a test may write to open a page: its address, whole or after a name of it."""
    ends = [rf"""["'}}]{_with_values(part)}"""] if part else []
    for last in re.findall(r"[^/]+/?$", part):
        before = """["'}]""" if "<" in last else """["'}/]"""
        ends.append(before + _with_values(last))
    return [rf"""{each}(?=["'?])""" for each in (_with_values(whole), *ends)]


def _with_values(route: str) -> str:
    """Return the route as a pattern that has any values in the places of its parameters."""
    numbers = re.sub(r"<int:[^>]+>", "\0", route)
    values = re.sub(r"<[^>]+>", "\1", numbers)
    return re.escape(values).replace("\0", r"(?:\d+|\{\w+\})").replace("\1", r"[^\s/]+")
