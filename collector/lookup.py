"""Finds what a command names on its command line, or says which names there are."""

from django.core.management.base import CommandError

from collector.models import Collection, Corpus


def collection_named(slug: str) -> Collection:
    """Return the collection `slug`; raises CommandError listing the known ones."""
    found = Collection.objects.select_related("corpus").filter(slug=slug).first()
    if found is None:
        known = ", ".join(Collection.objects.values_list("slug", flat=True)) or "none yet"
        raise CommandError(f"There is no collection {slug!r}. Known: {known}.")
    return found


def corpus_named(slug: str) -> Corpus:
    """Return the corpus `slug`; raises CommandError listing the known ones."""
    found = Corpus.objects.filter(slug=slug).first()
    if found is None:
        known = ", ".join(Corpus.objects.values_list("slug", flat=True)) or "none yet"
        raise CommandError(
            f"There is no corpus {slug!r}. Known: {known}. Read one in with ingest_dump."
        )
    return found
