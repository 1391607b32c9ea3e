"""Facts that simple patterns find in an article: years, places, names, numbers, what a thing is."""

import re

from annotation.protocols.iirc.simulation.articles import Article, Found

MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
YEAR = r"(?:1\d{3}|20\d\d)\b"
DATE = rf"(?:\d{{1,2}} (?:{MONTHS}) {YEAR}|(?:{MONTHS})(?: \d{{1,2}},)? {YEAR}|{YEAR})"
NAME = r"(?:[A-Z][\w’'.-]*\w(?: (?:of |de |the |upon |& )?[A-Z][\w’'-]+)*)"
_ONES = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen"
).split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_WORDS = {word: number for number, word in enumerate(_ONES, 1)} | {
    word: 10 * number for number, word in enumerate(_TENS, 2)
}
NUMBER = (
    rf"(?:\d[\d,]*(?:\.\d+)?|\b(?:{'|'.join(_TENS)})(?:-(?:{'|'.join(_ONES[:9])}))?\b"
    rf"|\b(?:{'|'.join(_ONES[1:])})\b)"
)
BEGINNINGS = (
    "founded|established|opened|built|completed|formed|created|begun|began|launched|published|"
    "inaugurated|held|played|released|recorded|signed|laid|made|took place|started|since|dates"
)
MAKERS = "designed|built|founded|opened|established|made|written|composed|begun|directed|produced"
LENGTHS = "kilometres?|metres?|miles?|feet|hectares?|square kilometres|km|ft|pages|minutes|tonnes"


def born(article: Article) -> Found | None:
    """Return when a person was born, by the first brackets of the article or the word."""
    found = article.search(
        rf"^[^()]{{0,120}}\((?:[^()]*?[;, ])??(?:born )?({DATE}) *[)–-]", first=2
    )
    return found or article.search(rf"\bborn\b[^.]{{0,60}}?({DATE})")


def died(article: Article) -> Found | None:
    """Return when a person died."""
    found = article.search(rf"^[^()]{{0,120}}\([^()]*?[–-] ?({DATE})\)", first=2)
    return found or article.search(rf"\bdied\b[^.]{{0,60}}?({DATE})")


def begun(article: Article) -> Found | None:
    """Return when a thing was founded, opened, held or made."""
    found = article.search(rf"\b(?:{BEGINNINGS})\b[^.]{{0,60}}?({DATE})", first=12)
    return found or article.search(rf"\b(?:between|from|since|of|in|on) ({DATE})", first=2)


def beginning(article: Article) -> Found | None:
    """Return the date with which the article's subject began, a life included."""
    return born(article) or begun(article)


def year(date: Found) -> int:
    """Return the year of a found date."""
    years = re.findall(YEAR, date.text)
    return int(years[-1]) if years else 0


def birthplace(article: Article) -> Found | None:
    """Return where a person was born."""
    return article.search(rf"\b[Bb]orn\b[^.;]{{0,40}}? (?:at|in|near|on) ({NAME})")


def place(article: Article) -> Found | None:
    """Return where a thing is, by the article's first sentences."""
    return article.search(rf"\b(?:in|at|near|on|of) (?:the )?({NAME})", first=2)


def school(article: Article) -> Found | None:
    """Return where a person was taught."""
    return article.search(
        rf"\b(?:educated|studied|taught|pupil)\b[^.;]{{0,30}}? (?:at|of) ({NAME})"
    )


def maker(article: Article) -> Found | None:
    """Return who designed, built, founded or wrote a thing."""
    by = rf"\b(?:{MAKERS})\b[^.;]{{0,40}}? by (?:the (?:[a-z]+ ){{1,3}})?({NAME})"
    return article.search(by) or article.search(rf"\b(?:novel|opera|song|album|film) by ({NAME})")


def winner(article: Article) -> Found | None:
    """Return who won."""
    return article.search(rf"\bwon by (?:the )?({NAME})") or article.search(rf"({NAME}) won\b")


def description(article: Article) -> Found | None:
    """Return what the first sentence says that its subject is, without the article."""
    return article.search(
        r"\b(?:is|was|are|were) (?:an? |the |one of the )?"
        r"([a-z][\w’'-]*(?: [\w’'&-]+){0,6}?)"
        r"(?= (?:of|in|on|from|who|which|that|at|with|by)\b|[,.;(])",
        first=2,
    )


def fame(article: Article) -> Found | None:
    """Return what a thing is known for."""
    return article.search(
        r"\b(?:known|famous|remembered|noted) for (?:the |its |his |her |their )?([^.,;()]{4,80})"
    )


def size(article: Article) -> Found | None:
    """Return how long or high a thing is, as a number with its unit."""
    return article.search(rf"({NUMBER} (?:{LENGTHS})\b)")


def count(article: Article, nouns: str) -> Found | None:
    """Return a number with one of the `nouns`, given as a pattern."""
    return article.search(rf"({NUMBER}(?: [a-z]+)? (?:{nouns})\b)")


def quantity(found: Found) -> tuple[str, str] | None:
    """Return number and unit of what `size` or `count` found, the number in digits."""
    match = re.match(rf"({NUMBER}) (.+)", found.text)
    if match is None:
        return None
    number, unit = match[1], match[2][:60]
    if number[0].isdigit():
        return number.rstrip(",").replace(",", ""), unit
    return str(sum(_WORDS[word] for word in number.split("-"))), unit
