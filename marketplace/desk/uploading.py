"""Takes the text of an upload out of a request: a file, or a text carried by the page."""

from django.conf import settings

from marketplace.desk.visitor import DeskRequest
from marketplace.uploads import MOST_BYTES, UploadError, text_of

REST_OF_FORM_BYTES = 100_000


def text_to_carry(request: DeskRequest) -> str:
    """Return the uploaded text, if the page that asks for the last word can send it back.

    Raises UploadError as `text_from` does, and when it is too much for a form.
    """
    text = text_from(request)
    most = (settings.DATA_UPLOAD_MAX_MEMORY_SIZE or MOST_BYTES) - REST_OF_FORM_BYTES
    if len(text.encode()) > most:
        raise UploadError(
            f"The file is larger than {most // 1_000_000} MB. Split it and upload the parts one "
            "after the other."
        )
    return text


def text_from(request: DeskRequest, field: str = "file") -> str:
    """Return the uploaded text, or what a hidden field of the page before carries.

    Raises UploadError when neither is there, or the file cannot be read.
    """
    given = request.FILES.get(field)
    if given is not None:
        return text_of(given.read())
    if carried := request.POST.get("carried", ""):
        return carried
    raise UploadError("Choose a file first.")
