"""The rows of verdicts, splits, judged difficulty and releases."""

from annotation.models.official import OfficialArticle, OfficialFile
from annotation.models.release import Context, OrderState, Release, ReleaseOrder
from annotation.models.splits import (
    Fold,
    FoldState,
    HopDecision,
    Hops,
    Judgement,
    JudgingRun,
    Placement,
    RunState,
    SampledQuestion,
)
from annotation.models.verdict import Exclusion, Override, Verdict

__all__ = [
    "Context",
    "Exclusion",
    "Fold",
    "FoldState",
    "HopDecision",
    "Hops",
    "Judgement",
    "JudgingRun",
    "OfficialArticle",
    "OfficialFile",
    "OrderState",
    "Override",
    "Placement",
    "Release",
    "ReleaseOrder",
    "RunState",
    "SampledQuestion",
    "Verdict",
]
