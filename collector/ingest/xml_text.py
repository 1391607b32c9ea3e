"""Text as the XML of a dump writes it: UTF-8, with references in place of some characters."""

import re

from collector.ingest.errors import MalformedPage

_REFERENCE = re.compile("&#?[0-9A-Za-z]{0,10};?")
_NUMBER = re.compile("&#(?:x([0-9a-fA-F]{1,6})|([0-9]{1,7}));")


def text_of(xml: bytes) -> str:
    """Return the text that `xml`, which holds no tags, is read as.

    Raises MalformedPage, without a title, if it is not UTF-8 or a reference stands for nothing.
    """
    return decoded(unescaped(narrow(xml)))


def narrow(xml: bytes) -> str:
    """Return a string with one character for each byte of `xml`.

    In UTF-8 a byte below 128 is always that character of ASCII. So whoever looks for ASCII only can
    do it here, where looking is faster than among wide characters, before `decoded`.
    """
    return xml.decode("latin-1")


def decoded(text: str) -> str:
    """Return what the bytes in `text`, a narrow string, mean. Raises MalformedPage if nothing."""
    try:
        return text.encode("latin-1").decode()
    except UnicodeDecodeError as error:
        raise MalformedPage("", "not valid UTF-8") from error


def unescaped(text: str) -> str:
    """Return `text`, a narrow string, with characters in place of its references, narrow too.

    Raises MalformedPage if one stands for nothing.
    """
    return _REFERENCE.sub(_in_place_of_reference, text) if "&" in text else text


class _References(dict[str, str]):
    """What character references stand for, narrow; MalformedPage if for nothing."""

    def __missing__(self, reference: str) -> str:
        number = _NUMBER.fullmatch(reference)
        if number:
            code = int(number[1], 16) if number[1] else int(number[2])
            if code in (9, 10, 13) or 32 <= code < 0xD800 or 0xE000 <= code < 0x110000:
                return "\n" if code == 13 else narrow(chr(code).encode())
        raise MalformedPage("", f"an unknown character reference {reference}")


_CHARACTERS = _References({"&lt;": "<", "&gt;": ">", "&amp;": "&", "&quot;": '"', "&apos;": "'"})


def _in_place_of_reference(match: re.Match[str]) -> str:
    return _CHARACTERS[match[0]]
