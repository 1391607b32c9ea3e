"""The rows of verdicts, splits, judged difficulty and releases."""

from annotation.models.context import Context
from annotation.models.exclusion import Exclusion
from annotation.models.hops import HopDecision, Hops, SampledQuestion
from annotation.models.judging import Fold, FoldState, Judgement, JudgingRun, RunState
from annotation.models.official import OfficialArticle, OfficialFile
from annotation.models.placement import Placement
from annotation.models.release import Release
from annotation.models.release_order import OrderState, ReleaseOrder
from annotation.models.verdict import Override, Verdict

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
