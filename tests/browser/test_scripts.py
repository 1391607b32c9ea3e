"""Spans by mouse and by keyboard in other scripts: what is kept is exactly what was marked."""

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.browser import EVERY_TEST
from tests.browser.conftest import Enter
from tests.browser.keyboard import Keyboard
from tests.browser.person import Person
from tests.browser.phrase import Phrase, occurrences, phrase
from tests.browser.row_assertions import ROWS
from tests.serving import Instance

pytestmark = EVERY_TEST
DIRECTIONS = {"ar": "rtl", "hi": "ltr", "ja": "ltr", "de": "ltr"}
TITLES = {code: f"One question: {code}" for code in ("ar", "hi", "ja", "de", "made")}
# Families, flags, shades of skin, marks that combine and no composed form to hide in.
ODD = (
    "👩‍👩‍👧‍👦",
    "🇩🇪🇯🇵",
    "👍🏽 gut",
    "Mu\u0308hle",
    "x\u0303\u0323y",
    "e\u0301\u0332 tü",
    "क्षि",
    "שלום",
)
MADE = """<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" xml:lang="de">
<siteinfo><sitename>Proben</sitename><dbname>proben</dbname>
<base>https://proben.example/wiki/Start</base>
<namespaces><namespace key="0" case="first-letter" /></namespaces></siteinfo>
<page><title>Ausflug</title><ns>0</ns><id>1</id><revision><id>1</id><text>{text}</text></revision></page>
</mediawiki>"""
PARAGRAPH = "{number}. Tag: vom [[Hafen]] zum [[Turm]], dann {odd} und zurück, müde, aber heiter."


@dataclass(frozen=True)
class Marked:
    """What was marked in which way, in the order of marking."""

    by_mouse: list[Phrase]
    by_keyboard: list[Phrase]


@pytest.mark.data
@pytest.mark.parametrize("code", DIRECTIONS)
def test_a_paragraph_of_wikipedia(code: str, instance: Instance, enter: Enter, data: Path) -> None:
    path = data / "wiki" / "minidumps" / f"{code}.xml.bz2"
    instance.call(f"{ROWS}:read_dump", str(path), code, "CC BY-SA 4.0", code)
    instance.call(f"{ROWS}:open_single", code, code, TITLES[code], 1, 120, 2000, 2)
    ada = enter(f"Ada reads {code}")
    ada.begin(TITLES[code])
    (item,) = ada.state()["items"]
    assert (item["lang"], item["dir"]) == (code, DIRECTIONS[code])
    chosen = list(plain_phrases(item["text"], 5))
    mark_and_compare(ada, instance, code, Marked(chosen[2:], chosen[:2]))


def test_emoji_and_combining_marks(instance: Instance, enter: Enter, tmp_path: Path) -> None:
    text = "\n\n".join(PARAGRAPH.format(number=n, odd=", ".join(ODD)) for n in (1, 2))
    (tmp_path / "made.xml").write_text(MADE.format(text=text), "utf-8")
    instance.call(f"{ROWS}:read_dump", str(tmp_path / "made.xml"), "made")
    instance.call(f"{ROWS}:open_single", "made", "made", TITLES["made"], 1, 20, 2000, 2)
    ada = enter("Ada reads everything")
    ada.begin(TITLES["made"])
    (item,) = ada.state()["items"]
    assert all(words in item["text"] for words in ODD)
    odd = [Phrase("main", words, item["text"].index(words)) for words in ODD]
    mark_and_compare(ada, instance, "made", Marked(odd[::2], odd[1::2]))


def plain_phrases(text: str, number: int) -> Iterator[Phrase]:
    """Yield phrases of letters alone, from the beginning of the text on, none touching another."""
    words = text.split(" ")
    if len(words) < 20:
        # No spaces between words: every few letters are a phrase.
        starts = [n for n in range(0, len(text), 7) if is_plain(text[n : n + 5])]
        for start in starts[:number]:
            words_ = text[start : start + 5]
            yield Phrase("main", words_, start, occurrences(text, words_, start))
        return
    first = 0
    while number:
        if all(is_plain(word) for word in words[first : first + 2]):
            yield phrase(text, first, 2)
            number -= 1
            first += 3
        else:
            first += 1


def is_plain(words: str) -> bool:
    """Return whether the words are letters and their marks, and nothing else."""
    return all(unicodedata.category(character)[0] in "LM" for character in words)


def mark_and_compare(person: Person, instance: Instance, slug: str, marked: Marked) -> None:
    """Mark by mouse and by keyboard, and compare with what the server's offsets give."""
    keyboard = Keyboard(person)
    for words in marked.by_keyboard:
        person.key("t") if not keyboard.focused(person.frame, "[data-document=main]") else None
        keyboard.select("main", words.words, words.occurrence)
        person.key("Enter")
    for words in marked.by_mouse:
        person.drag("main", words.words, words.occurrence)
    person.wait_until_saved()
    wanted = [words.words for words in marked.by_keyboard + marked.by_mouse]
    assert instance.call(f"{ROWS}:drafts", slug)[0]["marked"] == wanted
    instance.call(f"{ROWS}:put_away", slug)
