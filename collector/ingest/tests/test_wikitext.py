"""Wikitext becomes paragraphs whose links stand exactly where they say."""

import re
from xml.sax.saxutils import escape

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from collector.ingest.dump import Site
from collector.ingest.wikitext import ParsedPage, Wikitext

RESIDUE = ("{{", "}}", "[[", "]]", "{|", "|}")


def parse(text: str, language: str = "en") -> ParsedPage:
    return Wikitext(Site(language=language)).parse(escape(text).encode())


def texts(text: str) -> list[str]:
    return [paragraph[2] for paragraph in parse(text).paragraphs]


def links(text: str, language: str = "en") -> list[tuple[str, str]]:
    return [
        (shown[start:end], title)
        for _, _, shown, found in parse(text, language).paragraphs
        for start, end, title in found
    ]


@pytest.mark.parametrize(
    ("wikitext", "text"),
    [
        ("'''Orla''' is ''deep''.", "Orla is deep."),
        ("'''''Orla''''' and ''''x''''", "Orla and 'x'"),
        ("L'''Iliade'' lue", "L'Iliade lue"),
        ("'''''Iliad''''' ends", "Iliad ends"),
        ("''Iliad'''s end", "Iliad's end"),
        ("''Iliad'''s end\n\n''Iliad'''s end", "Iliad's end|Iliad's end"),
        ("The '''end'' is", "The 'end is"),
        ("Deep.<ref>A [[b]] {{c}}</ref> Wide.<ref name=x /> Cold.", "Deep. Wide. Cold."),
        ("Deep<ref group=n>a <ref>b</ref>.", "Deep."),
        ("Deep {{x|{{y}}|[[z]]}}, wide.", "Deep, wide."),
        ("Orla ({{lang-xx}}; born 1950) swims.", "Orla (born 1950) swims."),
        (
            "Orla (''{{lang|x|a}}''; ''{{lang|y|b}}''; {{lang|z|c}} {{d}}, e) swims",
            "Orla (a; b; c, e) swims",
        ),
        ("Deep<ref>a</ref> <ref>b</ref>, wide.", "Deep, wide."),
        ("* {{x}}, deep\n*<!-- x -->A<!-- y -->, wide", "deep|A, wide"),
        ("Orla ({{a}} {{b}}) swims in f().", "Orla swims in f()."),
        ("Is {{convert|300|m|ft}} by {{nowrap|5 km}}.", "Is 300 m by 5 km."),
        ("{{lang|fr|eau}}{{snd}}water{{'}}s", "eau – water's"),
        ("a <!-- b -->c", "a c"),
        ("one\n<!-- note -->\ntwo", "one two"),
        ("a<br />b <small>c</small> <math>x<y</math>d", "a b c d"),
        ("R&amp;B &ndash; 5&nbsp;km &lt;b&gt;", "R&B – 5 km <b>"),
        ("[http://x.org Label] and [http://y.org] end ([//z.org]).", "Label and end."),
        ("<nowiki>[[a]] '''</nowiki>b", "[ [a] ] '''b"),
        ("__NOTOC__Text __init__", "Text __init__"),
        ("Text.\n{| class=x\n| [[a]]\n{|\n| b\n|}\n|}\nMore.", "Text.|More."),
        ("[[File:A.jpg|thumb|[[b]] and [[c|d]]]]Text.", "Text."),
        ("Text.\n[[Category:Lakes]] [[de:See]]\n", "Text."),
        ("* one\n# two\n: three\n; four", "one|two|three|four"),
        ("Lone }} and ]] and {{ and [[ end.", "Lone and and and end."),
        ("Wrapped by\nhand here.\nAnother one.", "Wrapped by hand here.|Another one."),
        ("<gallery>\nFile:A.jpg|[[x]]\n</gallery>Text.", "Text."),
        ("10<sup>27</sup> kg in 5&nbsp;m<sup>3</sup> of H<sub>2</sub>O", "10²⁷ kg in 5 m³ of H₂O"),
        ("10<sup>&minus;6</sup>, 10<SUP>''<b>3</b>''</SUP>, 2<sup>k</sup>", "10⁻⁶, 10³, 2ᵏ"),
        ("10<sup>-27.5</sup>, 2<sup>2/3</sup>, 10<sub>12</sub>", "10^-27.5, 2^(2/3), 10₁₂"),
        (
            "1<sup>st</sup>, 5<sup>e</sup>, said<sup>[4]</sup>, v<sub>max</sub>",
            "1st, 5e, said[4], vmax",
        ),
        ("10<sup>{{frac|1|2}}</sup> but a<sup>never closed", "10^(1/2) but anever closed"),
        ("10<sup>10<sup>100</sup></sup>, 10<sup>3<ref>N.</ref></sup> kg", "10^10¹⁰⁰, 10^3 kg"),
        ("mc<sup>[[2]]</sup> and 10<sup>3 never closed", "mc² and 10^3 never closed"),
        ("{{convert|6|ft|2|in|cm}}, {{cvt|7|lb|3|oz|kg}}", "6 ft 2 in, 7 lb 3 oz"),
        ("{{convert|2|x|3|x|4|m}}, {{convert|5|to|9|km2|0}}", "2 × 3 × 4 m, 5 to 9 km²"),
        ("{{convert|2{{frac|1|2}}|in}}, {{convert|5+1/2|mi}}", "2 1/2 in, 5 1/2 mi"),
        ("2{{frac|1|2}}, {{frac|2|1|3}}, {{sfrac|8}}", "2 1/2, 2 1/3, 1/8"),
        ("{{script|Hebr|שלום}}, {{script/Arabic|سلام}}", "שלום, سلام"),
        ("3 × 10{{sup|8}}, 1.5{{e|-6}}, {{formatnum: 12000}}", "3 × 10⁸, 1.5×10⁻⁶, 12000"),
        ("{{val|6.67|0.01|e=-11|u=m3.kg-1}}", "6.67±0.01×10⁻¹¹ m³⋅kg⁻¹"),
        ("{{val|10|-|20|u=km}}, {{val|1|to|2}}, {{val|5|3|2}}", "10–20 km, 1 to 2, 5+3−2"),
        ("{{chem|211|85|At}}, {{chem|SO|4|2-}}, {{chem2|SO4(2-)}}", "²¹¹₈₅At, SO₄²⁻, SO₄²⁻"),
        ("a {{Numero|1}} hit, {{thinspace|No.| 24}}, 2{{x10^|8}}", "a No. 1 hit, No. 24, 2×10⁸"),
        ("Pete was{{emdash}}and still is, {{'\"}}here{{\"'}}", "Pete was—and still is, '\"here\"'"),
        (
            "{{ship|Finnish minelayer|Pohjanmaa||2}}, {{ship||Maria||6}}, {{sclass-|Collins|boat}}",
            "Finnish minelayer Pohjanmaa, Maria, Collins-class boat",
        ),
        (
            "({{bibleverse|2|Chronicles|29:25–27|KJV}}), [[Ecc.]] {{Bibleverse-nb||ecc|7:18|JP}}",
            "(2 Chronicles 29:25–27), Ecc. 7:18",
        ),
        (
            "C{{music|sharp}}, {{height|ft=6|in=1}}, the {{ordinal|11}} and {{ordinal|3}}",
            "C♯, 6 ft 1 in, the 11th and 3rd",
        ),
        (
            "({{nee|Keller}}), ({{née}} Feuerstein), {{Euro|250,000}}, {{JPY|3}}, the {{LORD}}",
            "(née Keller), (née Feuerstein), €250,000, ¥3, the LORD",
        ),
    ],
)
def test_markup_leaves_no_residue(wikitext: str, text: str) -> None:
    assert "|".join(texts(wikitext)) == text


@pytest.mark.parametrize(
    ("wikitext", "found"),
    [
        ("[[Varn]]", [("Varn", "Varn")]),
        ("[[varn|the valley]]s", [("the valleys", "Varn")]),
        ("[[Varn#Name]]", [("Varn#Name", "Varn")]),
        ("a[[Varn| the valley ]]. b", [("the valley", "Varn")]),
        ("[[Varn|''the'' valley]]", [("the valley", "Varn")]),
        ("''[[Varn]]'''s end", [("Varn", "Varn")]),
        ("[[Varn|{{x}}]]", [("Varn", "Varn")]),
        ("[[Varn|the [old] one]]", [("the [old] one", "Varn")]),
        ("[[Varn|the\nvalley]]", [("the valley", "Varn")]),
        ("[[#Name|below]] [[wikt:lake|lake]] [[:Category:Lakes]]", []),
        ("a [[b [[Varn]] c", [("Varn", "Varn")]),
        ("R&amp;B of [[Varn]]  in   [[Orla]]", [("Varn", "Varn"), ("Orla", "Orla")]),
        ("{{nowrap|[[Varn|v]]}}", [("v", "Varn")]),
    ],
)
def test_links_have_their_surface_and_their_target(
    wikitext: str, found: list[tuple[str, str]]
) -> None:
    assert links(wikitext) == found


def test_letters_after_a_link_prolong_it_as_the_language_has_it() -> None:
    assert links("[[озеро]]м", "ru") == [("озером", "Озеро")]
    assert links("[[湖]]は", "ja") == [("湖", "湖")]


def test_a_bracket_that_closes_may_stand_as_it_is_in_the_xml() -> None:
    xml = b"Deep&lt;ref name=a>b&lt;/ref>, &lt;nowiki>&amp;nbsp;&lt;/nowiki> &lt;b>wide&lt;/b>."
    assert Wikitext(Site()).parse(xml).paragraphs[0][2] == "Deep, &nbsp; wide."


def test_sections_have_their_headings_and_only_those_with_text() -> None:
    page = parse(
        "Lead.\n==  A ''b''==\n=== C ===\nText.\n==References==\n<ref>x</ref>\n== D ==\nEnd."
    )
    assert page.sections == [(0, ""), (2, "A b"), (3, "C"), (2, "D")]
    assert [(section, text) for section, _, text, _ in page.paragraphs] == [
        (0, "Lead."),
        (2, "Text."),
        (3, "End."),
    ]


def test_lists_are_told_from_prose() -> None:
    assert [kind for _, kind, _, _ in parse("Prose.\n* item\n preformatted").paragraphs] == [
        "paragraph",
        "list_item",
        "list_item",
    ]


def test_what_a_dropped_template_hides_does_not_become_preformatted() -> None:
    assert [kind for _, kind, _, _ in parse("{{x}} Prose one.\n[[File:a]] Two.").paragraphs] == [
        "paragraph",
        "paragraph",
    ]


def test_categories_redirects_and_lists_of_meanings_are_seen() -> None:
    page = parse("[[Category:lakes of_Varn|Orla]]\n[[Kategorie:B]]\n{{Hndis|x}}")
    assert page.categories == ["Lakes of Varn", "B"]
    assert page.is_disambiguation
    assert parse("#REDIRECT [[orla#Name]]").redirect == "Orla"
    assert parse("#تحويل [[أورلا]]").redirect == "أورلا"
    assert parse("#1 hit [[Orla]]").redirect == ""


def test_the_names_of_infoboxes_are_kept() -> None:
    page = parse(
        "{{Infobox_person\n|x={{circa|1}}|module={{infobox  Writer|embed=yes}}}} Ada.{{Ficha de x}}"
    )
    assert page.infoboxes == ["infobox writer", "infobox person", "ficha de x"]
    assert page.paragraphs[0][2] == "Ada."


def test_a_raised_number_that_is_a_link_stays_one() -> None:
    assert links("10<sup>[[Million|6]]</sup> and [[Square metre|m<sup>2</sup>]]") == [
        ("⁶", "Million"),
        ("m²", "Square metre"),
    ]


def test_formulas_and_measures_that_cannot_be_written_are_counted() -> None:
    page = parse("Where <math>x < y</math> by {{val}} and {{convert|some|m}}, {{convert|5|m}}.")
    assert (page.n_formulas, page.paragraphs[0][2]) == (3, "Where by and, 5 m.")
    # What follows from a table, or from the day on which it is read, is no text of the page.
    assert parse("It is {{age|1975|1|1}} years, $5 {{Inflation|US|5|1929}}.").n_formulas == 2


def test_variants_of_one_language_show_the_first() -> None:
    assert parse("-{zh-hans:湖泊;zh-hant:湖}-水", "zh").paragraphs[0][2] == "湖泊水"


MARKUP = st.sampled_from(
    [
        *("{{", "}}", "[[", "]]", "|", "[", "]", "{", "}", "'", "''", "(", ")", ";", ",", "-"),
        *("<ref>", "</ref>", "<ref/>", "<!--", "-->", "<nowiki>", "</nowiki>", "<br>", "<div>"),
        *("{|", "|}", "=", "==", "*", ":", "#", "File:", "Category:", "de:", "nowrap|", "__TOC__"),
        *("&amp;", "&nbsp;", "&#91;", "&#123;", "http://a", "a", "B", "é", "水", "😀", " ", "\n"),
        *("\n\n", "\n==", "\n*", "\n{|", "\n|}"),
    ]
)


@settings(max_examples=300, deadline=None)
@given(st.lists(MARKUP, max_size=40).map("".join))
def test_offsets_are_true_whatever_is_written(wikitext: str) -> None:
    page = parse(wikitext)
    for section, _, text, found in page.paragraphs:
        assert 0 <= section < len(page.sections)
        assert text == text.strip() != ""
        assert "\n" not in text
        assert "  " not in text
        last = 0
        for start, end, title in found:
            assert last <= start < end <= len(text)
            assert text[start:end].strip() == text[start:end]
            assert title
            last = end
        # In `[[a{]]{` two brackets meet once those of the link are gone: that is no markup.
        if not re.search(r"[{}|]\]\]|\[\[[{}|]", wikitext):
            assert not any(mark in text for mark in RESIDUE)


@pytest.mark.parametrize(
    "piece",
    [
        "{{",
        "[[",
        "[[File:a|",
        "<ref>",
        "<!--",
        "\n{|",
        "{{nowrap|",
        "l'''a",
        "[http://a ",
        "<nowiki>",
    ],
)
def test_a_hundred_thousand_openings_come_to_an_end(piece: str) -> None:
    page = parse(piece * 100_000)
    assert not any(mark in text for _, _, text, _ in page.paragraphs for mark in RESIDUE)
