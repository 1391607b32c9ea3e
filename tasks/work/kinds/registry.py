"""Finds the kind of a stage by its name."""

from typing import Protocol

from collector.protocols.loading import ProtocolError
from tasks.work.kinds.answer import AnswerKind
from tasks.work.kinds.evidence import EvidenceQuestionKind, NaturalQuestionKind, SearchAnswerKind
from tasks.work.kinds.forms import FreeAnswerKind, LabelKind, TextKind
from tasks.work.kinds.kind import StageKind
from tasks.work.kinds.pair import PairAnswerKind, PairKind
from tasks.work.kinds.question import QuestionKind
from tasks.work.kinds.span import SpanAnswerKind, SpanQuestionKind
from tasks.work.kinds.validation import ValidationKind

_KINDS: dict[str, StageKind] = {
    kind.name: kind
    for kind in (
        QuestionKind(),
        AnswerKind(),
        PairKind(),
        PairAnswerKind(),
        SpanQuestionKind(),
        SpanAnswerKind(),
        NaturalQuestionKind(),
        EvidenceQuestionKind(),
        SearchAnswerKind(),
        ValidationKind(),
        TextKind(),
        LabelKind(),
        FreeAnswerKind(),
    )
}


def register(kind: StageKind) -> None:
    """Register a kind that is defined in an app above this one."""
    _KINDS[kind.name] = kind


class HasKind(Protocol):
    """An object that names a kind: a stage's row, or its table of parameters."""

    @property
    def kind(self) -> str:
        """Return the name of the kind."""


def kind_of(stage: HasKind) -> StageKind:
    """Return the kind of a stage's row or table; raises ProtocolError for an unknown kind."""
    return get_kind(stage.kind)


def get_kind(name: str) -> StageKind:
    """Return the kind called `name`; raises ProtocolError if there is none."""
    try:
        return _KINDS[name]
    except KeyError:
        raise ProtocolError(f"There is no kind {name!r} of stage: see tasks/work/kinds/.") from None


def kinds_that_pair() -> list[str]:
    """Return the names of the kinds of stage that pair two workers."""
    return [name for name, kind in _KINDS.items() if kind.pairs_workers]
