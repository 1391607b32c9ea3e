"""Small dumps written by the tests themselves."""

import bz2
from pathlib import Path
from xml.sax.saxutils import escape

HEAD = (
    '<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" version="0.11" xml:lang="{lang}">'
    "<siteinfo><sitename>Wikipedia</sitename><dbname>{lang}wiki</dbname>"
    "<base>https://{lang}.wikipedia.org/wiki/Main_Page</base><case>first-letter</case>"
    '<namespaces><namespace key="0" /><namespace key="6">{file}</namespace>'
    '<namespace key="14">{category}</namespace></namespaces></siteinfo>'
)
TAIL = "</mediawiki>"


def head(lang: str = "en", file: str = "File", category: str = "Category") -> str:
    """Return the start of a dump, up to its first page."""
    return HEAD.format(lang=lang, file=file, category=category)


def page(title: str, text: str, number: int, namespace: int = 0, model: str = "wikitext") -> str:
    """Return one `<page>` element; the revision's id is 1000 + `number`."""
    return (
        f"<page><title>{escape(title)}</title><ns>{namespace}</ns><id>{number}</id><revision>"
        f"<id>{1000 + number}</id><timestamp>2024-05-06T07:08:09Z</timestamp>"
        f'<model>{model}</model><text bytes="1" xml:space="preserve">{escape(text)}</text>'
        "</revision></page>"
    )


def dump(pages: dict[str, str], **names: str) -> str:
    """Return a whole dump of `pages` (title → wikitext), numbered from 1."""
    inside = "".join(page(title, text, n) for n, (title, text) in enumerate(pages.items(), 1))
    return head(**names) + inside + TAIL


def write(path: Path, xml: str) -> Path:
    """Write `xml` to `path`, compressed if the name says so; return `path`."""
    data = xml.encode()
    path.write_bytes(bz2.compress(data) if path.suffix == ".bz2" else data)
    return path
