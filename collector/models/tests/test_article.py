"""An article knows where it came from."""

import pytest

from collector.models import Article, Corpus


def article(title: str, base_url: str) -> Article:
    corpus = Corpus(slug="c", base_url=base_url)
    return Article(corpus=corpus, title=title, revision_id=42)


@pytest.mark.parametrize(
    ("title", "address"),
    [
        ("Lake Orla", "https://en.wikipedia.org/wiki/Lake_Orla"),
        ("AC/DC", "https://en.wikipedia.org/wiki/AC/DC"),
        ("Who?", "https://en.wikipedia.org/wiki/Who%3F"),
        ("Élan", "https://en.wikipedia.org/wiki/%C3%89lan"),
    ],
)
def test_it_has_the_address_of_its_page(title: str, address: str) -> None:
    assert article(title, "https://en.wikipedia.org/wiki/Main_Page").url() == address


def test_it_has_the_permanent_address_of_its_revision() -> None:
    page = article("Lake Orla", "https://en.wikipedia.org/wiki/Main_Page")
    assert page.revision_url() == "https://en.wikipedia.org/w/index.php?oldid=42"


def test_without_a_site_there_is_no_address() -> None:
    assert article("Lake Orla", "").url() == article("Lake Orla", "").revision_url() == ""
