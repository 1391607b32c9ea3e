"""Titles are normalised and prefixes understood as the wiki does."""

import pytest

from collector.ingest.dump import Site
from collector.ingest.titles import NOWHERE, Prefix, Titles


@pytest.mark.parametrize(
    ("target", "title"),
    [
        ("lake_orla", "Lake orla"),
        (" Lake  Orla ", "Lake Orla"),
        ("Lake Orla#Name", "Lake Orla"),
        (":Lake Orla", "Lake Orla"),
        ("%C3%89a", "Éa"),
        ("R&amp;B", "R&B"),
        ("O&#39;Dowd", "O'Dowd"),
        ("\u200eVarn", "Varn"),
        ("2001: A Space Odyssey", "2001: A Space Odyssey"),
        ("émile", "Émile"),
        ("ßx", "ßx"),
        ("თბილისი", "თბილისი"),
    ],
)
def test_a_target_leads_to_the_normalised_title(target: str, title: str) -> None:
    assert Titles(Site()).known[target] == title


@pytest.mark.parametrize(
    "target",
    ["#Name", "", "Talk:Varn", "wikt:lake", ":de:See", ":Category:Lakes", "a<b", "é" * 200],
)
def test_a_target_that_is_no_article_of_this_wiki_leads_nowhere(target: str) -> None:
    assert Titles(Site()).known[target] == NOWHERE


@pytest.mark.parametrize(
    ("name", "prefix"),
    [
        ("File", Prefix.FILE),
        (" image ", Prefix.FILE),
        ("Datei", Prefix.FILE),
        ("चित्र", Prefix.FILE),
        ("تصنيف", Prefix.CATEGORY),
        ("カテゴリ", Prefix.CATEGORY),
        ("de", Prefix.LANGUAGE),
        ("User_talk", Prefix.ELSEWHERE),
        ("2001", None),
    ],
)
def test_prefixes_of_many_languages_are_known(name: str, prefix: Prefix | None) -> None:
    assert Titles(Site()).prefixes[name] is prefix


def test_the_dump_names_its_own_namespaces() -> None:
    site = Site(namespaces={"fails": 6, "kategoreja": 14, "sprīža": 1, "": 0})
    prefixes = Titles(site).prefixes
    assert [prefixes[name] for name in ("Fails", "Kategoreja", "Sprīža", "")] == [
        Prefix.FILE,
        Prefix.CATEGORY,
        Prefix.ELSEWHERE,
        None,
    ]


def test_a_wiki_may_tell_small_first_letters_apart() -> None:
    assert Titles(Site(first_letter_upper=False)).known["lake"] == "lake"
