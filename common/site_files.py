"""Files that the sites serve under names of their content, and files that browsers send."""

from typing import Any

from django.core.files.uploadedfile import TemporaryUploadedFile
from django.core.files.uploadhandler import FileUploadHandler, TemporaryFileUploadHandler
from whitenoise.storage import CompressedManifestStaticFilesStorage


class HashedStatic(CompressedManifestStaticFilesStorage):  # type: ignore[misc]
    """Collected files beside their compressed forms; scripts name one another by hash, too."""

    support_js_module_import_aggregation = True


class AnyName(TemporaryFileUploadHandler):
    """Keeps a large file under a name of its own: the sent one may end in too much for a disk."""

    def new_file(self, *given: Any, **named: Any) -> None:
        """Begin a file."""
        FileUploadHandler.new_file(self, *given, **named)
        self.file = TemporaryUploadedFile(
            "sent", self.content_type, 0, self.charset, self.content_type_extra
        )
        self.file.name = self.file_name


HANDLERS = [
    "django.core.files.uploadhandler.MemoryFileUploadHandler",
    "common.site_files.AnyName",
]
