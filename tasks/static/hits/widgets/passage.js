/** One passage to read and to mark. */

import { Reader } from "../text/reader.js";

export class Passage {
  /** on: as of a Reader. */
  constructor(root, on) {
    this.root = root;
    this.title = root.querySelector("[data-document-title]");
    this.section = root.querySelector("[data-document-section]");
    this.body = root.querySelector("[data-document-text]");
    this.reader = new Reader(this.body, { document: root.dataset.document, label: "Passage", on });
  }

  /** Show a paragraph {document, title, section, text, lang, dir}; the same one stays as it is. */
  read(paragraph) {
    const said = JSON.stringify([paragraph.title, paragraph.section, paragraph.text]);
    if (said === this.said) return;
    this.said = said;
    this.title.textContent = paragraph.title;
    this.section.textContent = paragraph.section ?? "";
    const block = document.createElement("div");
    block.className = "block";
    for (const element of [this.title, this.section, block]) {
      Object.assign(element, { lang: paragraph.lang, dir: paragraph.dir });
    }
    this.body.replaceChildren(block);
    this.body.setAttribute("aria-label", `Passage: ${paragraph.title}`);
    this.reader.fill([{ element: block, text: paragraph.text }]);
  }

  /** Show what is marked: spans {start, end}, in a look of the text's marks. */
  show(spans, look = "answer-mark") {
    this.reader.show("answer", spans.map(({ start, end }) => ({ start, end, classes: [look], data: { mark: "answer" } })));
  }

  focus() {
    this.body.focus();
  }
}
