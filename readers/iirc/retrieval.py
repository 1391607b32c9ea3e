"""The pipeline's first two stages: which links, and which window of each article (IIRC 3.2)."""

from collections.abc import Sequence
from dataclasses import dataclass

from annotation.protocols.iirc.official_files import MAIN
from readers.iirc.contexts import (
    Context,
    ContextLearner,
    Cut,
    Cutter,
    selected,
    training_items,
)
from readers.iirc.links import (
    Agreement,
    LinkItem,
    LinkLearner,
    Scored,
    agreement,
    link_item,
)
from readers.iirc.questions import Articles, Asked
from readers.iirc.quirks import quirks_of
from readers.learners.encoder import load_encoder
from readers.trained import ReaderError
from readers.trainer.recipe import Recipe
from readers.trainer.run import Run

LINKS, CONTEXTS = "links", "contexts"
PICKED, EVIDENCE = "picked", "evidence"
# Who says how long windows are: the official code or 4.2.
CODE, PAPER = "code", "paper"


def cut_of(recipe: Recipe) -> Cut:
    """Return how a recipe has texts cut; raises ReaderError."""
    by_paper = recipe.choice("windows", (CODE, PAPER)) == PAPER
    return Cut(
        context_tokens=recipe.integer("context_tokens"),
        window_tokens=recipe.integer("window_tokens"),
        stride_share=recipe.number("stride_share"),
        most_windows=recipe.integer("most_windows"),
        positions=recipe.integer("positions") if by_paper else 0,
    )


@dataclass
class Retrieval:
    """Both stages, trained or to be trained, over the same linked articles."""

    run: Run
    articles: Articles
    links: LinkLearner
    contexts: ContextLearner
    cutter: Cutter

    @classmethod
    def of(cls, run: Run, articles: Articles) -> "Retrieval":
        """Return both stages untrained, as the run's recipe says."""
        recipe, quirks = run.recipe.of(CONTEXTS), quirks_of(run.recipe)
        cut = cut_of(recipe)
        links = LinkLearner(
            load_encoder(run.encoder_of(LINKS)), run.recipe.of(LINKS).number("threshold")
        )
        encoder = load_encoder(run.encoder_of(CONTEXTS))
        contexts = ContextLearner(encoder, cut.most_windows)
        return cls(run, articles, links, contexts, Cutter(encoder, cut, quirks))

    def fit(self, questions: Sequence[Asked], dev: Sequence[Asked]) -> None:
        """Train both, each on gold inputs; what was trained before is taken as it is."""
        items = [
            [self._link_item(asked, self.right_links(asked)) for asked in of]
            for of in (questions, dev)
        ]
        self.run.fit(self.links, items[0], items[1], stage=LINKS)
        texts = [training_items(self.cutter, of, self.articles) for of in (questions, dev)]
        self.run.fit(self.contexts, texts[0], texts[1], stage=CONTEXTS)

    def right_links(self, asked: Asked) -> tuple[str, ...]:
        """Return the articles whose links are right for a question, as the recipe has it learned.

        The paper's are those with evidence, so none where nothing answers (IIRC 4.2). Raises
        ReaderError for a recipe that names no known way.
        """
        labels = self.run.recipe.of(LINKS).text("labels")
        if labels not in (PICKED, EVIDENCE):
            raise ReaderError(f'The recipe, labels = "{labels}": say {PICKED} or {EVIDENCE}.')
        if labels == PICKED:
            return tuple(dict.fromkeys(asked.picked))
        found = dict.fromkeys(span.passage for span in asked.evidence)
        return tuple(title for title in found if title != MAIN)

    def _link_item(self, asked: Asked, right: Sequence[str]) -> LinkItem:
        recipe = self.run.recipe.of(LINKS)
        encoder = self.links.model.encoder
        return link_item(encoder, asked, right, self.cutter.quirks, recipe.integer("positions"))

    def predicted_links(self, questions: Sequence[Asked]) -> list[tuple[str, ...]]:
        """Return the articles that are chosen for each question."""
        items = [self._link_item(asked, ()) for asked in questions]
        gold = [[Scored(title, 1.0) for title in asked.documents] for asked in questions]
        found = self.run.answers(self.links, items, stand_in=gold)
        return [self.links.chosen(links) for links in found]

    def predicted_contexts(
        self, questions: Sequence[Asked], links: Sequence[Sequence[str]]
    ) -> list[list[Context]]:
        """Return each question's contexts: the passage's window and one of each article."""
        return selected(
            self.cutter,
            lambda items: self.run.answers(self.contexts, items, stand_in=[0] * len(items)),
            questions,
            links,
            self.articles,
        )

    def links_agreement(
        self, questions: Sequence[Asked], links: Sequence[Sequence[str]]
    ) -> Agreement:
        """Return how the chosen articles agree with the right ones; each that is chosen counts.

        What is chosen where nothing answers lowers precision, as in Table 7.
        """
        return agreement([self.right_links(asked) for asked in questions], links)
