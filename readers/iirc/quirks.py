"""What the official code does beside the paper, by name; all of it together is *as published*.

Each changes what the models see, and most do harm (the protocol's README says what each costs), so
that all are off in our recipes; a recipe of one's own can turn on any of them.
"""

from dataclasses import dataclass, fields

from readers.trainer.recipe import Recipe, switches


@dataclass(frozen=True)
class Quirks:
    """Which of the official code's ways are followed."""

    no_final_separator: bool = False
    """Inputs end with their text, without the [SEP] that the encoder was trained with."""
    first_token_with_question: bool = False
    """Of links: the passage's first token is in the question's segment."""
    links_in_reverse: bool = False
    """Of links: scores in the order of the text are given to the links in reverse order."""
    marks_in_text: bool = False
    """Of links: [SEP] is written around each link in the text, looked up among the pieces, and
    taken out again; around the links behind the cut it stays."""
    one_segment: bool = False
    """Of contexts: question, passage and window are all of one segment."""
    unused_separator: bool = False
    """Of contexts: the id 1, [unused0] in BERT, is between the passage's context and the window."""
    short_tails: bool = False
    """Of contexts: windows begin as long as there is text, so that the last ones only repeat."""
    short_by_one: bool = False
    """Of contexts: a window is right though the evidence's last piece stands behind its end."""
    sentences_as_tokens: bool = False
    """Of contexts, in training: each sentence of the passage's evidence is one token, [UNK]."""
    cut_by_characters: bool = False
    """Of contexts: of the passage's window as many characters are kept as it has tokens."""
    decoded: bool = False
    """Of contexts: what is read are pieces put together again, in lower case and spaced."""


NAMES = tuple(field.name for field in fields(Quirks))
AS_PUBLISHED = Quirks(**dict.fromkeys(NAMES, True))


def quirks_of(recipe: Recipe) -> Quirks:
    """Return the quirks that a recipe has turned on."""
    return Quirks(**switches(recipe, NAMES))
