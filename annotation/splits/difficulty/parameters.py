"""The parameters of difficulty that a protocol may ask for."""

from typing import ClassVar

from pydantic import Field

from collector.protocols.parameters import AtMost, Table


class DifficultyTable(Table):
    """Who is sampled for single-hop questions, and what cross-validation calls medium."""

    sampled_share: float = Field(gt=0, le=1)
    """The workers who wrote this share of all questions are sampled."""
    min_sample: int = Field(ge=1)
    """The fewest questions to read of one sampled worker."""
    max_sample: int = Field(ge=1)
    """The most questions to read of one sampled worker."""
    single_hop_share: float = Field(gt=0, le=1)
    """From this share of single-hop questions on, all of a worker's go to train-easy."""
    folds: int = Field(ge=2, le=20)
    """How many parts the readers are trained and tested on in turn."""
    medium_share: float = Field(ge=0, le=1)
    """The largest share of the rest that can be train-medium."""
    reader: str = "light"
    """Which reader is trained: light, or one of the protocol's own."""
    CHANGEABLE: ClassVar[frozenset[str]] = frozenset({"single_hop_share", "reader"})
    AT_MOST = (AtMost("min_sample", "max_sample"),)
