/** The pair answer page: what others asked about two paragraphs, answered and proven. */

import { readState } from "./page/page.js";
import { find, PairPageBase } from "./pairs/page_base.js";

class PairAnswerPage extends PairPageBase {
  build() {
    super.build();
    find("[data-action=previous]").addEventListener("click", () => this.open(this.index - 1));
  }

  opened({ question, paragraphs }) {
    Object.assign(find("[data-question]"), { textContent: question, lang: paragraphs[0].lang });
    find("[data-panel-title]").textContent = `Answer ${this.index + 1}`;
  }

  slot(entry, { question }) {
    return { words: question, place: "" };
  }

  told(done) {
    return `${done} of ${this.items.length} answered`;
  }
}

new PairAnswerPage(readState(), { list: "answers", noun: "Question" }).start();
