"""The page and the server agree which words a mark covers."""

from pathlib import Path

from playwright.sync_api import Browser

from collector.ingest.segmentation import tokens
from tasks.work.widgets import spans
from tests.browser import EVERY_TEST

pytestmark = EVERY_TEST
SOURCE = Path(__file__).parents[2] / "tasks/static/hits/text/whole_words.js"
TEXTS = (
    "Saltmouth (built [in] 1871) has O’Neill’s keeper's lamp; it doesn't, can’t (really go out.",
    "𝒜 boat's (1) f(x) was hers), the crews' rock'n'roll don't.",
)


EVERY = """([text, tokens]) => {
  const places = [...tokens.keys()];
  return places.map((a) => places.map((b) => whole([...text], tokens, a, b)));
}"""


def test_page_and_server_agree_for_every_mark(chromium: Browser) -> None:
    page = chromium.new_page()
    script = SOURCE.read_text("utf-8").replace("export ", "")
    for text in TEXTS:
        found = [
            (start, end, any(map(str.isalnum, text[start:end])))
            for start, end in tokens(text, "en")
        ]
        pairs = [(first, last) for first in range(len(found)) for last in range(len(found))]
        seen = page.evaluate(
            f"(given) => {{ {script}\nreturn ({EVERY})(given).flat(); }}",
            [text, [list(one) for one in found]],
        )
        ours = [spans.whole(text, found, *pair) for pair in pairs]
        assert [one and tuple(one) for one in seen] == ours
        assert any(one not in (None, pair) for one, pair in zip(ours, pairs, strict=True))
    page.close()
