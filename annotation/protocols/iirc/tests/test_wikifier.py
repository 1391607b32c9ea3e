"""Links found by the names that a corpus links by."""

from annotation.protocols.iirc.combined import Wikifier

FERRY = "The ferry to Port Ellan left Hollin, an island."


def paragraph(text: str, **names: str) -> tuple[str, list[tuple[int, int, str]]]:
    """Return a text with its links, each a name and where it leads."""
    links = [(name.replace("_", " "), target) for name, target in names.items()]
    return text, [(text.index(name), text.index(name) + len(name), to) for name, to in links]


LEARNED = [
    paragraph("Held out: Hollin and Port Ellan.", Hollin="Hollin", Port_Ellan="Port Ellan"),
    paragraph("Hollin has one port, Port Ellan.", Hollin="Hollin", Port_Ellan="Port Ellan"),
    paragraph("The port is on Hollin.", Hollin="Hollin (island)", port="Harbour"),
    paragraph("Any port on Hollin.", Hollin="Hollin"),
    paragraph("A port, a port, a port.", port="Harbour"),
]


def learned(least: float = 0.5) -> Wikifier:
    """Return a wikifier of these paragraphs and of two titles more."""
    wikifier = Wikifier(least)
    wikifier.learn(["Ida Brook", "Marle (Ost)"], lambda: LEARNED)
    return wikifier


def found(wikifier: Wikifier, text: str, but: str = "") -> list[tuple[str, str]]:
    """Return the words of each link and its target."""
    return [(text[link.start : link.end], link.target) for link in wikifier.links(text, but)]


def test_a_name_leads_where_most_of_its_links_lead() -> None:
    assert found(learned(), FERRY) == [("Port Ellan", "Port Ellan"), ("Hollin", "Hollin")]


def test_a_word_that_is_seldom_a_link_is_none() -> None:
    text = "The port of Hollin."
    assert found(learned(0.5), text) == [("Hollin", "Hollin")]
    assert found(learned(0.3), text) == [("port", "Harbour"), ("Hollin", "Hollin")]


def test_titles_are_names_without_what_tells_them_apart() -> None:
    text = "Ida Brook (born in Marle) kept it."
    assert found(learned(), text) == [("Ida Brook", "Ida Brook"), ("Marle", "Marle (Ost)")]


def test_of_each_article_the_first_mention_is_a_link_and_never_its_own() -> None:
    assert found(learned(), "Hollin is Hollin.") == [("Hollin", "Hollin")]
    assert found(learned(), FERRY, but="Hollin") == [("Port Ellan", "Port Ellan")]


def test_it_is_measured_on_what_it_did_not_learn_from() -> None:
    measured = learned().measured(LEARNED)
    assert (measured.paragraphs, measured.precision, measured.recall) == (1, 1.0, 1.0)
    text, links = LEARNED[0]
    assert learned().measured([(text, [*links[:1], (0, 4, "Held")])]).precision == 0.5
    assert learned().measured([]).recall == 0.0
