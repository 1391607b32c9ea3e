"""What readers are trained with is there."""

from readers.trained import is_installed


def test_torch_and_transformers_are_installed() -> None:
    assert is_installed()
