"""A qualification test and its key, as a requester writes them."""

from marketplace.people.grants import NAMESPACE
from marketplace.questions.question_form import SCHEMAS


def choice(identifier: str, text: str) -> str:
    return (
        f"<Selection><SelectionIdentifier>{identifier}</SelectionIdentifier>"
        f"<Text>{text}</Text></Selection>"
    )


def selection(choices: str, counts: str = "") -> str:
    return f"<SelectionAnswer>{counts}<Selections>{choices}</Selections></SelectionAnswer>"


def question(identifier: str, answer: str, text: str = "Well?", required: str = "true") -> str:
    return (
        f"<Question><QuestionIdentifier>{identifier}</QuestionIdentifier>"
        f"<DisplayName>{identifier.title()}</DisplayName><IsRequired>{required}</IsRequired>"
        f"<QuestionContent><Text>{text}</Text></QuestionContent>"
        f"<AnswerSpecification>{answer}</AnswerSpecification></Question>"
    )


def form(*questions: str, overview: str = "") -> str:
    return (
        f'<QuestionForm xmlns="{SCHEMAS}2017-11-06/QuestionForm.xsd">'
        f"{overview}{''.join(questions)}</QuestionForm>"
    )


def option(score: int, *identifiers: str) -> str:
    chosen = "".join(f"<SelectionIdentifier>{one}</SelectionIdentifier>" for one in identifiers)
    return f"<AnswerOption>{chosen}<AnswerScore>{score}</AnswerScore></AnswerOption>"


def keyed(identifier: str, *options: str, default: str = "") -> str:
    return (
        f"<Question><QuestionIdentifier>{identifier}</QuestionIdentifier>"
        f"{''.join(options)}{default}</Question>"
    )


def key(*questions: str, mapping: str = "") -> str:
    mapping = mapping and f"<QualificationValueMapping>{mapping}</QualificationValueMapping>"
    return f'<AnswerKey xmlns="{NAMESPACE}">{"".join(questions)}{mapping}</AnswerKey>'


SUM = question("sum", selection(choice("four", "4") + choice("five", "5")), "2 + 2?")
BOTH = question(
    "both",
    selection(
        choice("a", "A") + choice("b", "B") + choice("c", "C"),
        "<MinSelectionCount>1</MinSelectionCount><MaxSelectionCount>3</MaxSelectionCount>",
    ),
    "Which are vowels or b?",
)
WHY = question(
    "why",
    '<FreeTextAnswer><Constraints><Length minLength="3" maxLength="20"/></Constraints>'
    "</FreeTextAnswer>",
    "Why?",
    "false",
)
TEST = form(SUM, BOTH, WHY)
KEY = key(
    keyed("sum", option(10, "four")),
    keyed("both", option(10, "a", "b"), option(5, "a"), option(5, "b")),
    mapping="<PercentageMapping><MaximumSummedScore>20</MaximumSummedScore></PercentageMapping>",
)
