"""Tests of asking for a page's scripts all at once."""

import pytest

from tasks.templatetags.page_modules import modules_of, preloads


@pytest.mark.parametrize("kind", ["question", "answer", "form"])
def test_every_import_of_a_page_is_asked_for_once(kind: str) -> None:
    found = modules_of(f"hits/{kind}.js")
    assert found[0] == f"hits/{kind}.js"
    assert {"hits/page/page.js", "hits/page/draft.js", "hits/page/announcer.js"} <= set(found)
    assert len(found) == len(set(found))
    html = preloads(f"hits/{kind}.js")
    assert html.count('rel="modulepreload"') == len(found)


def test_a_module_that_is_missing_is_named() -> None:
    with pytest.raises(FileNotFoundError, match=r"hits/nothing\.js"):
        modules_of("hits/nothing.js")
