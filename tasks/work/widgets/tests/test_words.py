"""Words are counted, and questions known by their ends, in any script."""

import pytest

from tasks.work.widgets.words import copied, is_asked, n_words, words_of


@pytest.mark.parametrize(
    ("text", "words", "length"),
    [
        ("Who wrote it?", ["Who", "wrote", "it"], 3),
        ("It's a well-known mill", ["It's", "a", "well-known", "mill"], 4),
        ("谁建了桥？", ["谁", "建", "了", "桥"], 2),
        ("東京タワー", ["東", "京", "タ", "ワ", "ー"], 3),
        ("누가 썼나요?", ["누", "가", "썼", "나", "요"], 3),
        ("विश्वविद्यालय कहाँ है?", ["विश्वविद्यालय", "कहाँ", "है"], 3),
        ("مَن بَنَى الجسر؟", ["مَن", "بَنَى", "الجسر"], 3),
        ("ที่", ["ที่"], 1),
        ("IBM成立于1911年", ["IBM", "成", "立", "于", "1911", "年"], 4),
        ("", [], 0),
    ],
)
def test_words_are_those_of_the_script_and_characters_where_it_has_none(
    text: str, words: list[str], length: int
) -> None:
    assert words_of(text) == words
    assert n_words(text) == length


@pytest.mark.parametrize(
    "text",
    [
        "Who?",
        "“Who?”",
        "谁建了桥？",
        "「誰ですか？」",
        "誰が橋を建てましたか。",
        "من بنى الجسر؟",
        "Ποιος το έγραψε;",
        "Ո՞վ գրեց սա",
        "ใครสร้างสะพาน",
    ],
)
def test_a_question_ends_as_those_of_its_language_do(text: str) -> None:
    assert is_asked(text)


@pytest.mark.parametrize(
    "text", ["Who wrote it.", "He wrote; she read;", "桥是谁建的。", "", "नमस्ते"]
)
def test_other_texts_do_not(text: str) -> None:
    assert not is_asked(text)


def test_words_that_stand_in_a_passage_in_a_row_are_found_in_any_script() -> None:
    assert copied("Who built the old mill of Orrin?", "He built the old mill.", 4) == (
        "built the old mill"
    )
    assert copied("Who built the old mill?", "An old mill was built.", 3) == ""
    passage = "这座桥由当地石匠于一九〇三年修建完成。"
    # Six characters are as long as three words.
    assert copied("谁由当地石匠于何时？", passage, 3) == "由当地石匠于"
    assert copied("谁由当地石匠于何时？", passage, 4) == ""
