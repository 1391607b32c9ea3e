"""How what a requester can do is refused, or breaks off, with a sentence."""


class ActionError(Exception):
    """The action was refused and has changed nothing; the message says why and what to do.

    on_page: what the requester's pages say in its place, where the message names a command; blank
    when it is the same.
    """

    def __init__(self, message: str, *, on_page: str = "") -> None:
        super().__init__(message)
        self.on_page = on_page or message


class Broken(Exception):
    """Work broke off, and may not the next time; the message says to people how."""


def said(words: str, otherwise: str) -> str:
    """Return the words without space around them; raises ActionError, `otherwise`, for none."""
    if not words.strip():
        raise ActionError(otherwise)
    return words.strip()
