"""No worker reads a word that is not marked for translation, in code, templates or scripts."""

import ast
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest

from marketplace.questions.template import IN_SCRIPTS
from marketplace.tests.test_translations import MARKS, ROOT

pytestmark = pytest.mark.pure
# The desk and the API speak English, and so do operators' commands.
ENGLISH = {"desk", "wire", "operations", "management", "migrations", "tests"}
TAGS = re.compile(
    r"\{% block body_class %\}.*?\{% endblock %\}"
    r"|\{% blocktranslate.*?%\}.*?\{% endblocktranslate %\}"
    r"|\{% comment %\}.*?\{% endcomment %\}|\{%.*?%\}|\{\{.*?\}\}|\{#.*?#\}",
    re.DOTALL,
)
READ_ALOUD = {"aria-label", "title", "alt", "placeholder"}
SENTENCE = re.compile(r"[A-Z“][^\n]*\s[^\n]*[.!?:]\s*", re.DOTALL)
# What requesters, hosts and operators read; a module that is not here is read
# by workers.
TO_OTHERS = {
    *("models", "settings.py", "question.py", "worker_import.py", "__main__.py"),
    *("requirements.py", "funds.py", "checkup.py", "events.py", "review_rules.py"),
    "desk_pages.py",
}
# These errors reach nobody at work; the others below are said to the host beside workers' own.
RAISED_TO_OTHERS = {
    *("QuestionFormError", "XMLError", "AnswerKeyError", "GroupError", "MergeError"),
    *("FaultInjectionError", "ImproperlyConfigured"),
}
# Words of ours on a requester's page: each is among those that are translated.
ON_PAGES = {"marked"}
TO_HOSTS = {
    "HIT type %s (%s): none of %s workers can take it; %s %s excludes most.",
    "Assignment was in an invalid state for this operation.",
    "A <{}> has no name, so what is written there does not come back.",
    "No field has a name, so nothing would come back. Add name=… to a field.",
    "Files cannot be handed in here; ask for a link instead.",
    "Say how it was paid: fill the column method, or the field above.",
    "There is no payment {} on any list.",
    "Write the amount “{}” as 1234.50.",
    "Write the day “{}” as 2026-11-20.",
    "This contest is settled already.",
    "No mail address is known. Add one, or hand the link over another way.",
    "The mail server refused: {}",
    "Give 1 to {} seats, for 1 to 365 days.",
    "There is a code for {} already. Give this one another name.",
    "Write a name of 1 to {} characters.",
    "Answer the worker in 1 to {} characters.",
    "This report was answered before.",
    "There is no worker {}.",
    "The reference {} belongs to another payment.",
    "{} is owed {}; record more than nothing, and no more.",
}


class _Words(HTMLParser):
    """Collects what is read on a page: its text, and attributes that are read aloud."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_data(self, data: str) -> None:
        """Note text."""
        self.found.append(data)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        """Note attributes that are words."""
        self.found += [value or "" for name, value in attributes if name in READ_ALOUD]


def bare_words(template: str) -> list[str]:
    """Return the words of a template that no tag marks."""
    page = _Words()
    page.feed(TAGS.sub("", template))
    return [text.strip() for text in page.found if re.search(r"[A-Za-z]{2}", text)]


def bare_sentences(code: str) -> Iterator[str]:
    """Yield sentences that stand in code unmarked, docstrings and others' errors left out."""
    tree = ast.parse(code)
    spared = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = getattr(node.func, "id", "")
            is_spared = name in {*MARKS, *ON_PAGES, *RAISED_TO_OTHERS}
        else:
            is_spared = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if is_spared:
            spared |= {id(inner) for inner in ast.walk(node)}
        if isinstance(node, ast.JoinedStr):
            # Read as a whole below.
            spared |= {id(part) for part in node.values}
    for node in ast.walk(tree):
        text = _text(node) if id(node) not in spared else ""
        if SENTENCE.fullmatch(text) and text not in TO_HOSTS:
            yield text


def _text(node: ast.AST) -> str:
    """Return a string as it stands in code, with {} for what is filled in."""
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(part) or "{}" for part in node.values)
    is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
    return str(node.value) if is_text else ""  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "path", sorted((ROOT / "templates/marketplace").glob("*.html")), ids=lambda p: p.name
)
def test_no_template_has_a_bare_word(path: Path) -> None:
    assert bare_words(path.read_text("utf-8")) == []


def test_no_module_has_a_bare_sentence() -> None:
    wrong = {}
    for path in ROOT.rglob("*.py"):
        where = path.relative_to(ROOT)
        if set(where.parts) & (ENGLISH | TO_OTHERS):
            continue
        if found := list(bare_sentences(path.read_text("utf-8"))):
            wrong[str(where)] = found
    assert wrong == {}


def test_scripts_say_only_words_that_are_translated() -> None:
    for path in (ROOT / "static/marketplace").glob("*.js"):
        text = re.sub(r"^\s*//.*$", "", path.read_text("utf-8"), flags=re.MULTILINE)
        said = set(re.findall(r'\bsay\("([^"]*)"\)', text))
        assert said <= IN_SCRIPTS, path.name
        rest = re.sub(r'\bsay\("[^"]*"\)', "", text)
        assert re.findall(r'"[A-Z][a-z]+(?: [^"]*)?"', rest) == [], path.name


def test_a_bare_word_is_seen() -> None:
    assert bare_words('<p title="Look">{% translate "In" %} Bare {{ word }}</p>') == [
        "Look",
        "Bare",
    ]
    assert list(bare_sentences('x = f"It is {n} now."\ny = "It is bare."\n_("It is not.")')) == [
        "It is {} now.",
        "It is bare.",
    ]
