"""What the table of a stage says, by the kind of stage; a protocol's own tables extend these."""

from typing import Self

from pydantic import Field, model_validator

from collector.protocols.parameters import BonusesTable, Redundancy, StageTable, Table


class QuestionTable(StageTable):
    """A question HIT (IIRC 2.2)."""

    questions_per_hit: int = Field(ge=1)
    """Questions that one HIT asks for."""
    multi_link_questions: int = Field(ge=0)
    """How many of them must need several links."""
    multi_link_min_links: int = Field(ge=2)
    """How many links such a question needs."""


class AwardingTable(StageTable):
    """A stage that pays bonuses of its own for accepted examples."""

    bonuses: BonusesTable
    """What is paid besides the reward."""


class PairTable(AwardingTable):
    """A stage whose workers write a question about each pair, or skip it (HotpotQA 2)."""

    max_skips: int = Field(ge=0)
    """How many pairs of a HIT may be skipped."""
    max_skips_per_pair: int = Field(ge=1)
    """A pair that so many people skipped is dropped."""

    @model_validator(mode="after")
    def _something_is_written(self) -> Self:
        if self.max_skips >= self.items_per_hit:
            raise ValueError("max_skips must leave at least one pair of a HIT to write about")
        return self

    @model_validator(mode="after")
    def _one_writer_each(self) -> Self:
        if set(self.redundancy.model_dump().values()) != {1}:
            raise ValueError("redundancy must be 1 in every fold: a pair has one writer")
        return self


class DialogTable(StageTable):
    """The live dialogs (QuAC 2.1, 2.2)."""

    requires_student: str
    """The qualification stage that opens the student's role."""
    requires_teacher: str
    """The qualification stage that opens the teacher's role."""
    min_pairs: int = Field(ge=1)
    """Dialogs with fewer answered questions stay out of the data; they are paid."""
    max_questions: int = Field(ge=1)
    """The dialog ends after so many questions."""
    max_unanswerable: int = Field(ge=1)
    """The dialog ends with the last of so many questions without an answer."""
    max_span_tokens: int = Field(ge=1)
    """The longest answer that can be marked, in tokens."""
    max_question_characters: int = Field(ge=1)
    """The longest question that can be asked."""
    turn_cents: list[int] = Field(min_length=1)
    """What each turn earns both partners, the first turn first."""
    wait_minutes: int = Field(ge=1)
    """How long somebody waits for a partner at most."""
    wait_cents_per_minute: int = Field(ge=0)
    """What a minute of waiting earns."""
    ready_seconds: int = Field(ge=5)
    """How long both have to say that they are there."""
    grace_seconds: int = Field(ge=5)
    """How long a lost connection may last."""
    move_minutes: int = Field(ge=1)
    """How long a partner may take for one move."""

    @model_validator(mode="after")
    def _pay_never_falls(self) -> Self:
        if min(self.turn_cents) < 0 or sorted(self.turn_cents) != self.turn_cents:
            raise ValueError("turn_cents must not be negative nor fall from turn to turn")
        return self

    @model_validator(mode="after")
    def _time_is_enough(self) -> Self:
        longest = self.wait_minutes + 2 * self.max_questions * self.move_minutes
        if self.allotted_minutes < longest:
            raise ValueError(
                f"allotted_minutes must cover the longest wait and a dialog after it: {longest}"
            )
        return self


class Validators(Redundancy):
    """How many workers answer a finished dialog's questions again; none is allowed."""

    train: int = Field(ge=0)
    """How many people answer a training dialog again."""
    dev: int = Field(ge=0)
    """How many people answer a dev dialog again."""
    test: int = Field(ge=0)
    """How many people answer a test dialog again."""


class ValidationTable(StageTable):
    """A stage whose workers answer a dialog's questions in order (QuAC 2.2)."""

    redundancy: Validators
    """How many people answer one dialog again."""
    max_span_tokens: int = Field(ge=1)
    """The longest answer that can be marked, in tokens."""
    continuation: bool
    """Whether they also say how to go on."""


# The keys that pages of forms act on themselves: definitions, instructions, the next item, writing.
PAGE_KEYS = frozenset("dhnw")


class ChoiceTable(Table):
    """One label: `value` is stored and shown, `hint` says when it fits."""

    # As long as the column that keeps the label of a vote.
    value: str = Field(min_length=1, max_length=20)
    """The label that is stored and shown."""
    hint: str = ""
    """Says when the label fits."""
    key: str = Field("", pattern=r"^[a-z0-9]?$")
    """The key that chooses it; its number, where none is given."""
    group: str = ""
    """The group of labels that it belongs to."""
    example: str = ""
    """An example that it fits."""
    over: list[str] = []
    """The labels that it wins over where several fit."""


class FieldTable(Table):
    """One field of a form: one of `choices`, or free words where there are none."""

    name: str = Field(pattern=r"^[a-z][a-z_]*$")
    """The field's name in the data."""
    label: str = Field(min_length=1)
    """What workers read beside the field."""
    choices: list[ChoiceTable] = []
    """The labels to choose from; none for free words."""
    required: bool = True
    """Whether it must be filled in."""
    max_characters: int = Field(200, ge=1)
    """The most that can be written."""
    rule: str = ""
    """What decides where several labels fit: shown beside them."""
    groups: str = Field("", pattern=r"^([a-z][a-z_]*)?$")
    """The name in the data of what the groups of the labels say; none where they are headings."""

    @model_validator(mode="after")
    def _choices_differ(self) -> Self:
        values = [choice.value for choice in self.choices]
        if len(set(values)) != len(values):
            raise ValueError(f"two choices of {self.name!r} are the same")
        keys = [choice.key for choice in self.choices if choice.key]
        for key in keys:
            if keys.count(key) > 1:
                raise ValueError(f"two choices of {self.name!r} have the key {key!r}")
            if key in PAGE_KEYS:
                raise ValueError(f"a choice of {self.name!r} has {key!r}, a key of the page")
        if keys and len(keys) < len(values):
            raise ValueError(f"give a key to all choices of {self.name!r}, or to none")
        if self.groups and not all(choice.group for choice in self.choices):
            raise ValueError(f"every choice of {self.name!r} needs a group: {self.groups} is it")
        return self

    @model_validator(mode="after")
    def _precedence_ends(self) -> Self:
        beaten = {choice.value: set(choice.over) for choice in self.choices}
        for value, others in beaten.items():
            if not others <= beaten.keys():
                unknown = sorted(others - beaten.keys())[0]
                raise ValueError(f"{value!r} wins over {unknown!r}, which {self.name!r} has not")
        left = set(beaten)
        # Who wins over nobody that is left is in no circle.
        while done := {value for value in left if not beaten[value] & left}:
            left -= done
        if left:
            raise ValueError(f"in {self.name!r} these win over one another: {sorted(left)}")
        return self

    def group_of(self, value: str) -> str:
        """Return the group of a label, "" for one that is in none."""
        return {choice.value: choice.group for choice in self.choices}.get(value, "")


class FormTable(StageTable):
    """A stage whose workers fill in one form per item; the first field is what is collected."""

    fields: list[FieldTable] = Field(min_length=1)
    """What is filled in for each item; the first field is what is collected."""

    @model_validator(mode="after")
    def _fields_differ(self) -> Self:
        names = [name for field in self.fields for name in (field.name, field.groups) if name]
        if len(set(names)) != len(names):
            raise ValueError("two fields have the same name")
        if not self.fields[0].required:
            raise ValueError("the first field is what is collected: it must be required")
        return self


class TextTable(FormTable):
    """A text stage: the first field is the free text that is collected."""

    @model_validator(mode="after")
    def _first_is_words(self) -> Self:
        if self.fields[0].choices:
            raise ValueError("the first field is the text: it cannot have choices")
        return self


class LabelTable(FormTable):
    """A label stage: the first field is the label, and the vote that agreement counts."""

    scheme: str = ""
    """The file of labels/ that the fields are read from, once, when a collection is created."""

    @model_validator(mode="after")
    def _first_is_a_choice(self) -> Self:
        if len(self.fields[0].choices) < 2:
            raise ValueError("the first field is the label: it needs two choices or more")
        return self


class WritingChecks(Table):
    """Limits of a question and of a reason, as the controls of the pages count them."""

    min_question_words: int = Field(ge=1)
    """A shorter question is refused."""
    max_question_characters: int = Field(ge=1)
    """A longer question is refused."""
    max_reason_characters: int = Field(ge=1)
    """The longest reason for doing something else than what was asked."""


class PairChecks(WritingChecks):
    """Limits of what is written about a pair of paragraphs, or answered from it."""

    max_answer_words: int = Field(ge=1)
    """A longer answer is refused."""
