"""A format that stands in for one to come: paragraphs on lines of their own, below a title."""

from pathlib import Path

from collector.ingest.documents.blocks import Block, DocumentText
from collector.ingest.documents.catalogue import DocumentFormat, text_of
from collector.ingest.lines import PARAGRAPH


class Story(DocumentFormat):
    """A title, then a paragraph a line."""

    name = "story"
    label = help = "Stories"
    extensions = ("story",)

    def read(self, path: Path, name: str) -> DocumentText:
        """Return the story."""
        title, *lines = text_of(path, name).splitlines()
        return DocumentText(title, [Block(PARAGRAPH, line) for line in lines])
