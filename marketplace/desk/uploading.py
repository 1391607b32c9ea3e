"""Takes the text of an upload out of a request: a file, or a text carried by the page."""

from marketplace.desk.access import DeskRequest
from marketplace.uploads import UploadError, text_of


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
