"""The rows of what we believe and release."""

from annotation.models.context import Context
from annotation.models.official import OfficialArticle, OfficialFile
from annotation.models.placement import Placement
from annotation.models.release import Release
from annotation.models.release_order import OrderState, ReleaseOrder
from annotation.models.verdict import Override, Verdict

__all__ = [
    "Context",
    "OfficialArticle",
    "OfficialFile",
    "OrderState",
    "Override",
    "Placement",
    "Release",
    "ReleaseOrder",
    "Verdict",
]
