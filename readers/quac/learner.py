"""BiDAF++ as what is trained: dialogs become batches, scores become predictions."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from annotation.protocols.quac.references import system_f1
from annotation.protocols.quac.scoring import Prediction
from readers.learners.characters import character_ids
from readers.learners.vocabulary import Vocabulary
from readers.quac.decoding import Decoding, decoded
from readers.quac.dialogs import (
    FOLLOWUP,
    YESNO,
    Asked,
    Dialog,
    marks,
)
from readers.quac.network import Batch, Bidaf, Scores, Text
from readers.quac.states import States


@dataclass
class BidafLearner:
    """Learns dialogs; an answer is the predictions for a dialog's questions, in order.

    vocabulary: of the words that have vectors, None where none has. states: of a pretrained
    encoder, which is not trained further, or None. longest: tokens of an answer at most.
    """

    model: Bidaf
    vocabulary: Vocabulary | None
    states: States | None
    longest: int
    decoding: Decoding = "best"

    def loss(self, items: Sequence[Dialog]) -> Tensor:
        """Return the mean over the questions of all dialogs."""
        batch = self.collate(items)
        return self.model.loss(self.model(batch), batch)

    def answers(self, items: Sequence[Dialog]) -> list[list[Prediction]]:
        """Return for each dialog what is answered to its questions."""
        # Sums of two scores are compared: not in half precision.
        scores = Scores(*(each.double().cpu() for each in self.model(self.collate(items))))
        rows = iter(range(len(scores.start)))
        return [
            [self._prediction(dialog, scores, next(rows)) for _ in dialog.asked] for dialog in items
        ]

    def score(self, items: Sequence[Dialog], answers: Sequence[Sequence[Prediction]]) -> float:
        """Return the mean of the official scorer's F1 over all questions, in percent."""
        scores = [
            system_f1(prediction.span, asked.turn.references)
            for dialog, given in zip(items, answers, strict=True)
            for asked, prediction in zip(dialog.asked, given, strict=True)
        ]
        return 100 * sum(scores) / len(scores)

    def length(self, item: Dialog) -> int:
        """Return the number of tokens of the section."""
        return len(item.tokens)

    def collate(self, dialogs: Sequence[Dialog]) -> Batch:
        """Return the questions of these dialogs as one batch, on the model's device."""
        device = next(self.model.parameters()).device
        k = self.model.sizes.turns
        places = [
            (row, at) for row, dialog in enumerate(dialogs) for at in range(len(dialog.asked))
        ]
        asked = [dialogs[row].asked[at] for row, at in places]
        # Behind a section there are only tokens of no answer.
        marked = pad_sequence(
            [_columns(marks(dialogs[row], at, k), dialogs[row]) for row, at in places],
            batch_first=True,
        )
        return Batch(
            section=self._text(dialogs, device),
            question=self._text(asked, device),
            dialog=torch.tensor([row for row, _ in places], device=device),
            number=torch.tensor([at for _, at in places], device=device),
            marks=marked.transpose(1, 2).to(device),
            answer=torch.tensor([each.answer for each in asked], device=device),
            yesno=torch.tensor([each.yesno for each in asked], device=device),
            followup=torch.tensor([each.followup for each in asked], device=device),
        )

    def _text(self, texts: Sequence[Dialog] | Sequence[Asked], device: torch.device) -> Text:
        words = None
        if self.vocabulary is not None:
            ids = [torch.tensor(self.vocabulary.ids(text.words)) for text in texts]
            words = pad_sequence(ids, batch_first=True).to(device)
        contextual = None
        if self.states is not None:
            contextual = self.states.of(
                [text.text for text in texts], [text.tokens for text in texts]
            )
        return Text(
            characters=character_ids([text.words for text in texts]).to(device),
            words=words,
            contextual=contextual,
            lengths=torch.tensor([len(text.tokens) for text in texts], device=device),
        )

    def _prediction(self, dialog: Dialog, scores: Scores, row: int) -> Prediction:
        n = len(dialog.tokens)
        start, end = scores.start[row, :n], scores.end[row, :n]
        first, last = decoded(start, end, self.longest, self.decoding)
        return Prediction(
            dialog.span(first, last),
            YESNO[int(scores.yesno[row, last].argmax())],
            FOLLOWUP[int(scores.followup[row, last].argmax())],
        )


def _columns(marked: Sequence[Sequence[int]], dialog: Dialog) -> Tensor:
    """Return (tokens, k) of k rows, also where k is 0."""
    return torch.tensor(marked, dtype=torch.long).reshape(len(marked), len(dialog.tokens)).T
