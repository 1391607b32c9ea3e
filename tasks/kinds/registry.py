"""Finds the kind of a stage by its name: the one place that knows them all."""

from typing import Protocol

from collector.protocols.loading import ProtocolError
from tasks.kinds.answer import AnswerKind
from tasks.kinds.dialog import DialogKind
from tasks.kinds.evidence_question import EvidenceQuestionKind
from tasks.kinds.free_answer import FreeAnswerKind
from tasks.kinds.kind import StageKind
from tasks.kinds.label import LabelKind
from tasks.kinds.natural_question import NaturalQuestionKind
from tasks.kinds.pair import PairKind
from tasks.kinds.pair_answer import PairAnswerKind
from tasks.kinds.question import QuestionKind
from tasks.kinds.search_answer import SearchAnswerKind
from tasks.kinds.span_answer import SpanAnswerKind
from tasks.kinds.span_question import SpanQuestionKind
from tasks.kinds.text import TextKind
from tasks.kinds.validation import ValidationKind

_ALL: tuple[StageKind, ...] = (
    QuestionKind(),
    AnswerKind(),
    PairKind(),
    PairAnswerKind(),
    SpanQuestionKind(),
    SpanAnswerKind(),
    NaturalQuestionKind(),
    EvidenceQuestionKind(),
    SearchAnswerKind(),
    DialogKind(),
    ValidationKind(),
    TextKind(),
    LabelKind(),
    FreeAnswerKind(),
)
_KINDS = {kind.name: kind for kind in _ALL}


class HasKind(Protocol):
    """A stage's row or its table of the parameters."""

    @property
    def kind(self) -> str:
        """Return the name of the kind."""


def kind_of(stage: HasKind) -> StageKind:
    """Return the kind of a stage, by its row or its table; raises ProtocolError for none."""
    return get_kind(stage.kind)


def get_kind(name: str) -> StageKind:
    """Return the kind called `name`; raises ProtocolError when there is none."""
    try:
        return _KINDS[name]
    except KeyError:
        raise ProtocolError(f"There is no kind {name!r} of stage: see tasks/kinds/.") from None


def kinds_that_pair() -> list[str]:
    """Return the names of the kinds of stage that bring two workers together."""
    return [name for name, kind in _KINDS.items() if kind.pairs_workers]
