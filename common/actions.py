"""Errors that say in a sentence why an action was refused or work broke off."""


class ActionError(Exception):
    """The action was refused and has changed nothing; the message says why and what to do.

    on_page: the sentence for the requester's pages, if the message names a command; blank if it is
    the same.
    """

    def __init__(self, message: str, *, on_page: str = "") -> None:
        super().__init__(message)
        self.on_page = on_page or message


class Broken(Exception):
    """Work broke off, but may succeed the next time; the message says why, for people."""


def said(words: str, otherwise: str) -> str:
    """Return the words without space around them; raises ActionError(otherwise) if blank."""
    if not words.strip():
        raise ActionError(otherwise)
    return words.strip()
