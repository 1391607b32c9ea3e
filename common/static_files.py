"""Names style and scripts after what is in them, so that browsers may keep them for good."""

from whitenoise.storage import CompressedManifestStaticFilesStorage


class HashedStatic(CompressedManifestStaticFilesStorage):  # type: ignore[misc]
    """Collected files beside their compressed forms; scripts name one another by hash, too."""

    support_js_module_import_aggregation = True
