"""Which answers tell an event: those with a verb (Book QA 7), by a tagger or by a rule of words.

An auxiliary alone (*he was a miller*) is no event: it links a state to somebody.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

from annotation.metrics.result import ScoreError

# English pipelines of spaCy with a tagger: the first that is installed is taken.
MODELS = ("en_core_web_sm", "en_core_web_md", "en_core_web_lg", "en_core_web_trf")
VERB, VERB_TAG = "VERB", "VB"
RULE = "a rule of words, as no English model of spaCy is installed"

_WORD = re.compile(r"[A-Za-z]+|[^\w\s'’-]")
# Past forms that do not end in -ed, and bare forms that are hardly ever anything else.
_IRREGULAR = frozenset(
    """
    arose ate awoke became began begun bent bitten blew blown bore born bought bound broke broken
    brought built burnt came caught chose chosen clung crept dealt died drank dreamt drew drawn
    driven drove drunk dug dwelt eaten fed fell fallen fled flew flown flung forbade forbidden
    forgave forgiven forgot forgotten fought found froze frozen gave given gone got gotten grew
    grown heard held hid hidden hung kept knelt knew known laid learnt led lent leapt lied lost made
    meant met mistook overcame overheard paid ran rang ridden risen rode rose said sang sank sat saw
    seen sent shaken shook shot shown slain slept slew sold sought spent spoke spoken sprang stole
    stolen stood struck stuck stung sung sunk swam swore sworn swept swung taken taught thought
    threw thrown told took tore torn understood undertook went wept withdrew woke woken won wore
    worn wrote written arrives becomes comes dies gets goes makes marries tells wants writes become
    betray kill marry persuade rescue destroy escape
    """.split()
)
_NOT_PAST = frozenset(
    """
    bed bleed breed creed deed feed greed hundred indeed kindred need red reed sacred seed shed sled
    speed weed wed wicked naked blessed hatred one-eyed aged beloved ragged rugged wretched bred
    fred alfred mildred winifred ted ned jed
    """.split()
)
_NOT_DOING = frozenset(
    """
    anything building bring ceiling clothing darling during evening everything feeling king
    lightning meeting morning nothing offspring ring sibling something spring sterling string sting
    thing viking wedding wing being having going offering painting writing drawing dwelling farthing
    herring lodging outing pudding shilling swing earring sling
    """.split()
)
_DETERMINERS = frozenset(
    "a an the his her their its my our your this that these those some any no every each".split()
)
_OBJECTS = _DETERMINERS - {"any", "no", "every", "each"} | frozenset(
    "him them it me us himself herself themselves itself everyone everything someone".split()
)
_SUBJECTS = frozenset("he she they i we you who".split())
_MODALS = frozenset("will would can could should may might must shall cannot did does do".split())
_LINKS = frozenset(
    "am is are was were be been being has have had having s re ve ll d not never also only".split()
)
_FUNCTION_WORDS = (
    _OBJECTS
    | _SUBJECTS
    | _MODALS
    | _LINKS
    | frozenset(
        """
        aboard about above after against all along among amongst and around as at because before
        behind below beneath beside besides between both but by despite down for from half if in
        inside into like near nor of off on once or out outside over past per since so than then
        there though through throughout to toward towards under unless until up upon what when where
        whether which while whom whose why with within without yes
        """.split()
    )
)


class Verbs(NamedTuple):
    """Which of the texts have a verb, and what has told it, in words."""

    having: frozenset[str]
    told_by: str


def texts_with_verbs(texts: Iterable[str], model: str | None = None) -> Verbs:
    """Return which texts have a verb, as a model of spaCy tags them.

    model: its name or folder; without one the first of MODELS that is installed, else a rule of
    words. Raises ScoreError for a model that cannot be loaded, or has no tagger.
    """
    import spacy

    wanted = sorted(set(texts))
    name = model or next((each for each in MODELS if spacy.util.is_package(each)), None)
    if name is None:
        return Verbs(frozenset(text for text in wanted if has_verb(text)), RULE)
    try:
        pipeline = spacy.load(name, exclude=["ner", "parser", "lemmatizer"])
    except (OSError, ValueError, ImportError) as error:
        reason = str(error).partition("\n")[0]
        raise ScoreError(f"--tagger {name}: it cannot be loaded ({reason}).") from None
    having = set()
    for text, document in zip(wanted, pipeline.pipe(wanted), strict=True):
        if text.strip() and not (document.has_annotation("POS") or document.has_annotation("TAG")):
            raise ScoreError(f"--tagger {name}: it has no tagger; give a model that has one.")
        if any(
            word.pos_ == VERB or (not word.pos_ and word.tag_.startswith(VERB_TAG))
            for word in document
        ):
            having.add(text)
    meta = pipeline.meta
    called = f"{meta['lang']}_{meta['name']} {meta['version']}"
    return Verbs(frozenset(having), f"the tagger of spaCy's {called}")


def has_verb(text: str) -> bool:
    """Return whether the rule finds a verb in an English text.

    A verb is an irregular past form; a word in -ed; one in -ing that follows no determiner; a word
    in small letters after *to*, after a subject pronoun or after a modal; a word in -s before an
    object; and the first word before an object.
    """
    words = _WORD.findall(text)
    small = [word.lower() for word in words]
    return any(_is_verb(words, small, place) for place in range(len(words)))


def _is_verb(words: list[str], small: list[str], place: int) -> bool:
    word = small[place]
    before = small[place - 1] if place else ""
    after = small[place + 1] if place + 1 < len(small) else ""
    named = words[place][0].isupper() and place > 0
    if word in _FUNCTION_WORDS or named:
        return False
    if word in _IRREGULAR:
        return before not in _DETERMINERS
    if word.endswith("ed") and len(word) > 3:
        return word not in _NOT_PAST and before not in _DETERMINERS
    if word.endswith("ing") and len(word) > 4:
        return word not in _NOT_DOING and before not in _DETERMINERS
    if before == "to" or before in _SUBJECTS or before in _MODALS:
        return True
    is_third = word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > 3
    return after in _OBJECTS and (is_third or not place)
