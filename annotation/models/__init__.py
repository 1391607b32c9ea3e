"""The rows of what we believe and release."""

from annotation.models.official import OfficialArticle, OfficialFile
from annotation.models.placement import Placement
from annotation.models.release import Release
from annotation.models.verdict import Override, Verdict

__all__ = ["OfficialArticle", "OfficialFile", "Override", "Placement", "Release", "Verdict"]
