"""Builds the retrieval index of a corpus."""

from argparse import ArgumentParser
from typing import Any

from collector.lookup import corpus_named
from collector.retrieval.files import build_index
from collector.retrieval.index import Index, RetrievalError
from collector.retrieval.passages import PassageIndex, build_passages
from common.command_line import MANAGE, Printout, ResultCommand


class Command(ResultCommand):
    """build_index CORPUS."""

    help = (
        "Index the first paragraphs of a corpus for retrieval, or with --paragraphs all of them "
        "for searching; run it again at any time, nothing is done twice. "
        f"Example: {MANAGE} build_index enwiki"
    )

    refusals = (RetrievalError,)

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument("corpus")
        parser.add_argument(
            "--paragraphs", action="store_true", help="index all paragraphs, for searching"
        )

    def result(self, options: dict[str, Any]) -> Printout:
        """Build it, or say in one line why not."""
        corpus = corpus_named(options["corpus"])
        build = build_passages if options["paragraphs"] else build_index
        path, built = build(corpus, progress=self._progress)
        if self.stderr.isatty():
            self.stderr.write("")
        n_texts = (PassageIndex if options["paragraphs"] else Index)(path).n_texts
        size = path.stat().st_size
        told = {"corpus": corpus.slug, "built": built, "file": str(path)}
        return {**told, "n_texts": n_texts, "size_bytes": size}, [
            f"{'Built' if built else 'Nothing to do, it is there'}: {n_texts:,} "
            f"{'paragraphs' if options['paragraphs'] else 'first paragraphs'}, "
            f"{size:,} bytes in {path}."
        ]

    def _progress(self, what: str, share: float) -> None:
        if self.stderr.isatty():
            self.stderr.write(f"\r{share:4.0%}  {what:<50}", ending="")
