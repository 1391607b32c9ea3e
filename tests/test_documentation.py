"""What a newcomer reads is whole: commands, settings, protocols; and every page opens."""

import argparse
import re
from pathlib import Path
from typing import Any

import pytest
from django.core.management import get_commands, load_command_class
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from annotation.protocols.tests.folders import PROTOCOLS
from collector.environment import Environment
from common.commands import MANAGE
from tasks.tests.making import make_collection

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


VALUES = {"stage": "question_qualification", "name": "consent", "version": 1}
UNKNOWN = {"key": 0, "number": 999, "worker": "nobody", "receipt": "none"}


@pytest.mark.django_db
def test_every_page_opens(client: Client, settings: Any) -> None:
    """All are opened: those of a collection that is there, and of what nobody has made, too."""
    settings.OPEN_DESK = True
    make_collection(slug="pilot")
    opened: dict[int, set[str]] = {}
    missing = set()
    for name, (whole, _) in routes().items():
        parts = re.findall(r"<(?:\w+:)?(\w+)>", whole)
        values = {"slug": "pilot"} | VALUES | UNKNOWN
        address = reverse(name, kwargs={part: values[part] for part in parts})
        reply = client.get(address, HTTP_HOST="localhost")
        opened.setdefault(reply.status_code, set()).add(name)
        if reply.status_code == 404 and not set(parts) & UNKNOWN.keys():
            missing.add(name)
    # Pages of protocols with sets of candidates, and with splits by difficulty.
    sets = {"candidate_sets", "add_candidates"}
    judging = {"difficulty", "difficulty_now", "draw_questions", "begin_judging", "split_now"}
    assert missing == sets | judging
    # What takes a form alone says so; only health asks for services that are not there.
    assert opened.keys() <= {200, 302, 400, 401, 403, 404, 405, 503}
    assert opened.get(503, set()) <= {"health"}
    shown = {"collection", "seeds", "questions", "money", "text", "releases", "report"}
    assert shown <= opened[200]
