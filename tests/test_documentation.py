"""What a newcomer reads is whole: commands, settings, protocols; and every page opens."""

import argparse
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from django.core.management import get_commands, load_command_class
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from annotation.protocols.tests.folders import PROTOCOLS
from collector.environment import Environment
from collector.models import Corpus
from common.command_line import MANAGE
from tasks.tests.making import make_collection

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text("utf-8")
OPERATOR = (ROOT / "docs" / "operator.md").read_text("utf-8")
# What people read, by path: the README, what it leads to for each reader, and the references.
PAGES = {
    str(path.relative_to(ROOT)): path.read_text("utf-8")
    for path in (
        ROOT / "README.md",
        *sorted((ROOT / "docs").glob("*.md")),
        ROOT / "marketplace" / "README.md",
        *sorted((ROOT / "annotation" / "protocols").glob("*/README.md")),
    )
}
ROOMS = ("common", "collector", "tasks", "annotation", "readers", "marketplace")
COMMANDS = {name: app for name, app in get_commands().items() if app in ROOMS}
# They run until they are stopped, print a whole day of other commands, or are Django's.
PRINT_NO_RESULT = {"run", "serve", "demo", "migrate"}

of_command = pytest.mark.parametrize("name", sorted(COMMANDS))


def parser_of(name: str) -> argparse.ArgumentParser:
    """Return the parser of a command, ours or Django's."""
    return load_command_class(get_commands()[name], name).create_parser("manage.py", name)


def code_of(text: str) -> list[str]:
    """Return the lines of code on a page, continued ones whole, and the code inside sentences."""
    text = text.replace("\\\n", " ")
    blocks = re.findall(r"^```\w*\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    rest = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    inside = [code.replace("\n", " ") for code in re.findall(r"`([^`]+)`", rest)]
    return [line for block in blocks for line in block.splitlines()] + inside


def commands_of(text: str) -> list[str]:
    """Return the commands on a page that are written as they are typed, without interpreter."""
    found = re.compile(r"(?:manage\.py|-m marketplace) ([a-z]\w+.*)$")
    return [match[1].rstrip("'") for line in code_of(text) if (match := found.search(line))]


TYPED = [(path, command) for path, text in PAGES.items() for command in commands_of(text)]


# Every block of commands of the README and of docs, by its page and what it begins with: the test
# that runs it, or why none runs it as it stands and which one is nearest.
DAY = "tests/test_requesters_day.py"
BLOCKS = {
    ("README.md", "make demo"): (
        "They install packages and run the suite itself.",
        "collector/serving/tests/test_sample.py",
    ),
    ("README.md", "export AWS_"): (
        "They are for a program of one's own; the test gives them to one.",
        "marketplace/tests/test_live_server.py",
    ),
    ("docs/host.md", "manage.py import_workers"): (
        "They name people and keys of one's own.",
        "marketplace/tests/test_commands.py",
    ),
    ("docs/operator.md", "DOMAIN=lab.example make serve\ndeploy"): (
        "They need Docker and a domain.",
        "tests/test_deployment.py",
    ),
    ("docs/operator.md", "useradd"): ("They need root and systemd.", "tests/test_deployment.py"),
    ("docs/operator.md", "export DATABASE_URL"): (
        "They need a domain's certificate and do not end.",
        "collector/serving/tests/test_serve.py",
    ),
    ("docs/operator.md", "git clone"): ("They need Docker.", "tests/test_deployment.py"),
    ("docs/requester.md", "manage.py ingest_dump"): ("", DAY),
    ("docs/requester.md", "manage.py ingest_documents"): ("", DAY),
    ("docs/requester.md", "manage.py create_collection pairs"): ("", DAY),
    ("docs/requester.md", "manage.py ingest_books"): ("", DAY),
    ("docs/requester.md", "manage.py export_dataset pilot --log"): (
        "The last three lines need another home, predictions and a person who is paid.",
        DAY,
    ),
    ("docs/requester.md", "manage.py change_collection"): (
        "They need groups that a host has made.",
        "tests/test_people_one_has.py",
    ),
    ("docs/requester.md", "manage.py import_results"): (
        "They need a protocol and results of one's own.",
        "annotation/mturk_import/tests/test_importing.py",
    ),
    ("docs/requester.md", "manage.py rehearse"): (
        "Fifty workers take minutes.",
        "annotation/rehearsal/tests/test_orders.py",
    ),
    ("docs/requester.md", "manage.py export_dataset pilot --out"): (
        "The second line needs a hub.",
        "annotation/release/tests/test_handing_on.py",
    ),
    ("docs/requester.md", "manage.py baseline"): (
        "They need torch and official files.",
        "readers/tests/test_baseline_command.py",
    ),
}


def test_every_block_of_commands_is_run_by_a_test_or_listed_with_the_reason_why_not() -> None:
    found = []
    for path, text in PAGES.items():
        if path == "README.md" or path.startswith("docs/"):
            blocks = re.findall(r"^```\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
            commands = [block.removeprefix(".venv/bin/python ") for block in blocks]
            found += [(path, block) for block in commands if re.match(r"[\w./]+[ =]\S", block)]
    for (path, begins), (_, test) in BLOCKS.items():
        assert (ROOT / test).is_file(), test
        of_it = [block for where, block in found if where == path and block.startswith(begins)]
        assert len(of_it) == 1, begins
        found.remove((path, of_it[0]))
    assert found == []


def test_there_are_commands() -> None:
    assert len(COMMANDS) > 10


@of_command
def test_a_page_names_the_command(name: str) -> None:
    assert any(re.search(rf"(manage\.py |`){name}\b", text) for text in PAGES.values())


def test_a_newcomer_reads_one_screen_and_a_half_and_finds_every_page() -> None:
    assert len(README.splitlines()) <= 80
    for path in PAGES:
        if path.startswith("docs/"):
            assert f"({path})" in README


@pytest.mark.parametrize(("path", "command"), TYPED)
def test_a_command_of_a_page_can_be_typed_as_it_stands(path: str, command: str) -> None:
    """Its arguments are those that the command takes; Django's parser raises what it refuses."""
    name, *arguments = shlex.split(command, comments=True)
    if name != "help":
        assert parser_of(name).parse_args(arguments)


def test_the_pages_of_who_types_hold_commands() -> None:
    for page in ("docs/requester.md", "docs/host.md", "docs/operator.md", "marketplace/README.md"):
        assert commands_of(PAGES[page])
    assert len(TYPED) > 30


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
def test_the_operators_page_explains_the_setting(name: str) -> None:
    assert re.search(rf"^\| `{name}` \| .+ \| .+ \|$", OPERATOR, re.MULTILINE)


def test_the_operators_page_explains_no_setting_that_is_not_read() -> None:
    told = set(re.findall(r"^\| `([A-Z_]+)` \|", OPERATOR, re.MULTILINE))
    assert told == set(Environment.model_fields)


def printed() -> dict[str, str]:
    """Return by path whatever prints a command, or tells one to a reader."""
    paths = [ROOT / "README.md", *(ROOT / "docs").glob("*.md"), ROOT / "manage.py"]
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


def test_a_command_of_a_page_can_be_pasted_with_what_is_said_of_it() -> None:
    for text in PAGES.values():
        for line in code_of(text):
            words = line.partition(MANAGE)[2]
            assert not re.search(r"\S {2,}[^#\s-]", words), line


def test_help_offers_no_command_that_needs_what_is_not_installed() -> None:
    assert "generateschema" not in get_commands()


def test_the_readme_names_the_command_that_passes_the_tests_beside_those_that_show_it() -> None:
    asked = [line.partition("#")[0].strip() for line in code_of(README)[:3]]
    assert asked == ["make demo", "make run", "make test"]


def test_the_readme_leads_to_every_protocol() -> None:
    for protocol in PROTOCOLS:
        if protocol.folder.parent.parent.name == "annotation":
            assert f"annotation/protocols/{protocol.name}/README.md" in README


def test_no_page_names_a_file_that_is_not_there() -> None:
    for path, text in PAGES.items():
        links = re.findall(r"\]\((?!https?:|#)([^)#]+)", text)
        folder = (ROOT / path).parent
        assert [link for link in links if not (folder / link).exists()] == [], path


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


VALUES = {"stage": "question_qualification", "name": "consent", "version": 1, "kind": "fold"}
UNKNOWN = {"key": 0, "number": 999, "worker": "nobody", "receipt": "none"}
UNKNOWN |= {"run": 999, "position": 999, "file": "no.csv", "view": "none"}


@pytest.mark.django_db
def test_every_page_opens(client: Client, settings: Any) -> None:
    """All are opened: those of a collection that is there, and of what nobody has made, too."""
    settings.PASSWORDLESS_SIGN_IN = True
    make_collection(slug="pilot")
    Corpus.objects.update(slug="pilot")
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
    # Pages of protocols with sets of candidates, with splits by difficulty, with labels.
    sets = {"candidate_sets", "add_candidates", "keep_candidates"}
    judging = {"difficulty", "difficulty_now", "draw_questions", "begin_judging", "split_now"}
    labelling = {"label_scheme", "try_scheme", "scheme_file"}
    # Metrics are there for whoever has a token.
    assert missing == sets | judging | labelling | {"metrics"}
    # What takes a form alone says so; only health asks for services that are not there.
    assert opened.keys() <= {200, 302, 400, 401, 403, 404, 405, 503}
    assert opened.get(503, set()) <= {"health"}
    shown = {"collection", "seeds", "questions", "money", "text", "releases", "report"}
    assert shown <= opened[200]


def test_every_module_that_the_map_of_the_house_names_is_there() -> None:
    text = PAGES["docs/contributor.md"]
    named = set(re.findall(r"`((?:\w+/)+(?:\w+\.py)?)`", text))
    assert len(named) > 30
    assert sorted(name for name in named if not (ROOT / name).exists()) == []
