"""Which collections need documents of a corpus as they are."""

from django.db.models import Q, QuerySet

from collector.models import Article, Collection, CollectionState, Corpus, SeedParagraph


def curators_of(corpus: Corpus) -> QuerySet[Collection]:
    """Return the collections that draw seeds from candidate sets, which name the corpus's pages."""
    return corpus.collections.filter(candidate_sets__isnull=False).distinct().order_by("slug")


def users_of_documents(corpus: Corpus, articles: QuerySet[Article]) -> QuerySet[Collection]:
    """Return the collections that need documents: published ones, and drafts that show one."""
    shown = SeedParagraph.objects.filter(paragraph__article__in=articles).values("seed__collection")
    needed = ~Q(state=CollectionState.DRAFT) | Q(pk__in=shown) | Q(candidate_sets__isnull=False)
    return corpus.collections.filter(needed).distinct().order_by("slug")


def named(users: QuerySet[Collection]) -> str:
    """Return the collections' titles in one sentence's words."""
    return ", ".join(f"“{each.title or each.slug}”" for each in users)
