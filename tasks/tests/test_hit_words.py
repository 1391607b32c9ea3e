"""What workers are told to do counts what the parameters say."""

import re

from collector.protocols.loading import all_protocols, get_protocol
from tasks.work.kinds.hit_words import description_of, filled, title_of

LINKED = "from linked articles"


def words(protocol: str, stage: str, **changed: int) -> tuple[str, str]:
    """Return title and description of a stage whose table is changed."""
    table = get_protocol(protocol).parameters().stages()[stage].model_copy(update=changed)
    return title_of(table), description_of(table)


def test_titles_and_descriptions_follow_the_parameters() -> None:
    title, told = words("squad", "question", questions_per_item=2, unanswerable_per_item=1)
    assert title == "Write two questions about one paragraph"
    assert told.startswith("Read one paragraph and write two questions: some that the")
    title, told = words("iirc", "question", items_per_hit=4, questions_per_hit=1)
    assert title == "Write one question about what a paragraph leaves out"
    assert told.startswith("Read four short paragraphs with links and write one question that")
    assert words("iirc", "answer", items_per_hit=25)[0] == f"Answer 25 questions {LINKED}"
    assert words("rag", "find", items_per_hit=1)[1].startswith(
        "Search a collection of documents for the answers to one question, mark"
    )


def test_no_title_and_no_description_counts_what_no_parameter_says() -> None:
    for protocol in all_protocols():
        for name, table in protocol.parameters().stages().items():
            others = {"items_per_hit": 77, "questions_per_hit": 77, "questions_per_item": 77}
            known = {key: value for key, value in others.items() if hasattr(table, key)}
            changed = table.model_copy(update=known)
            for told in (title_of(changed), description_of(changed)):
                assert "{" not in told, (protocol.name, name)
                counts = ("three ", "four ", "five ", "ten ")
                structure = told.replace("one to three passages", "").replace("up to three p", "")
                assert not any(count in structure for count in counts), (protocol.name, told)


def test_what_the_text_does_not_name_rightly_stays() -> None:
    values = {"n": 3, "name": "Rita", "is": True}
    assert filled("{n:one|many} of {name}, {other}, {name:a|b}, {is:a|b}", values) == (
        "three many of Rita, {other}, {name:a|b}, {is:a|b}"
    )


def test_instructions_count_one_of_a_thing_in_the_singular() -> None:
    plural = re.compile(r"\{\w+\} (questions|paragraphs|minutes|seconds|pairs|articles|sections)")
    for protocol in all_protocols():
        for path in (protocol.folder / "instructions").glob("*.md"):
            assert not plural.findall(path.read_text("utf-8")), path
