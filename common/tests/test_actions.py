"""Tests of how an action refuses."""

from common.actions import ActionError


def test_a_refusal_says_the_same_everywhere_unless_it_names_a_command() -> None:
    plain = ActionError("Say why.")
    with_command = ActionError("Choose seeds: select_seeds pilot", on_page="Choose seeds first.")
    assert (str(plain), plain.on_page) == ("Say why.", "Say why.")
    assert str(with_command) == "Choose seeds: select_seeds pilot"
    assert with_command.on_page == "Choose seeds first."
