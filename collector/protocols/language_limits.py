"""What a protocol cannot do in the language of a corpus, in sentences for its requester."""

from collector.language_names import language_name
from collector.protocols.parameters import Parameters
from collector.retrieval.terms import parts_no_words

ENGLISH = ("en", "simple")


def language_limits(parameters: Parameters, language: str) -> list[str]:
    """Return a sentence for each thing that is done otherwise, or not at all, than in English."""
    name, told = language_name(language), []
    if parameters.ENGLISH_ALONE and language.partition("-")[0] not in ENGLISH:
        told.append(
            f"The corpus is in {name}; these know English alone: {parameters.ENGLISH_ALONE}."
        )
    if parts_no_words(language):
        told.append(
            f"{name} has few blanks between words. So characters are marked and searched for, and "
            f"where words are limited two characters count as one. {parameters.BY_BLANKS}".strip()
        )
    return told
