"""Where the official code does what its authors can hardly have meant: each a switch."""

from dataclasses import dataclass, fields


@dataclass(frozen=True)
class Quirks:
    """What the official code does besides, each off unless results must be as published.

    attend_padding: which places of the context matter is also sought in its padding. pad_questions:
    a question is read through its padding. pad_kinds: the kind of answer is told from the padding
    too. see_itself: in self-attention a place sees itself. wide_products: products of states weigh
    between 1/√width and 1 at first. titles_as_facts: titles can be predicted as supporting facts.
    absent_is_start: where a context has not the answer its first two tokens are learned.
    leave_out: questions that are too long are left out, those to be answered too; else contexts are
    cut.
    """

    attend_padding: bool = False
    pad_questions: bool = False
    pad_kinds: bool = False
    see_itself: bool = False
    wide_products: bool = False
    titles_as_facts: bool = False
    absent_is_start: bool = False
    leave_out: bool = False


NAMES = tuple(each.name for each in fields(Quirks))
NONE = Quirks()
AS_PUBLISHED = Quirks(**dict.fromkeys(NAMES, True))
