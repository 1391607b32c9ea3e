/** One document in a tab: the passage or an article, with its own scroll position. */

import { Reader } from "../text/reader.js";

let made = 0;

export class Tab {
  /** on: the reader's, and {show(), close()}. */
  constructor({ name, label, closable, on }) {
    Object.assign(this, { name, label, on });
    this.scroll = 0;
    made += 1;
    const id = `document-${made}`;
    this.panel = make("div", "document-panel");
    this.panel.setAttribute("role", "tabpanel");
    this.panel.setAttribute("aria-labelledby", `${id}-tab`);
    this.panel.id = id;
    this.element = make("div", "document");
    this.element.dataset.document = name;
    this.panel.append(this.element);
    this.handle = make("div", "tab");
    this.handle.setAttribute("role", "presentation");
    this.button = this.#button(id);
    this.handle.append(this.button);
    if (closable) this.#makeClosable();
    this.reader = new Reader(this.element, { document: name, label, on });
  }

  #button(id) {
    const button = make("button", "tab-button");
    button.type = "button";
    button.id = `${id}-tab`;
    button.dataset.tab = this.name;
    button.setAttribute("role", "tab");
    button.setAttribute("aria-controls", id);
    button.title = this.label;
    button.append(Object.assign(make("bdi"), { textContent: this.label }));
    button.addEventListener("click", (event) => {
      if (event.target.closest("[data-action=close-article]")) this.on.close();
      else this.on.show();
    });
    return button;
  }

  /** A tab list may hold tabs alone, so the cross is for the mouse and Delete for the keyboard. */
  #makeClosable() {
    const cross = make("span", "tab-close");
    cross.dataset.action = "close-article";
    cross.textContent = "×";
    cross.title = `Close ${this.label}`;
    cross.setAttribute("aria-hidden", "true");
    this.button.append(cross);
    this.button.setAttribute("aria-keyshortcuts", "Delete");
    this.button.addEventListener("keydown", (event) => {
      if (event.key === "Delete" || event.key === "Backspace") this.on.close();
    });
  }

  select(chosen) {
    // Where the width is there the passage stays in sight beside an article: see text.css.
    this.panel.classList.toggle("is-behind", !chosen);
    this.handle.classList.toggle("chosen", chosen);
    this.button.setAttribute("aria-selected", String(chosen));
    this.button.tabIndex = chosen ? 0 : -1;
  }

  fillPassage(passage) {
    const title = make("h2", "document-title");
    const section = Object.assign(make("small"), { textContent: passage.section ?? "" });
    title.append(Object.assign(make("bdi"), { textContent: passage.title }), " ", section);
    const block = make("div", "block");
    speak([title, block], passage);
    this.element.append(title, block);
    this.reader.fill([{ element: block, text: passage.text, links: passage.links, sentences: passage.sentences }]);
  }

  /** article: {title, lang, dir, sections: [{heading, level, paragraphs}]}. */
  fillArticle(article) {
    const title = make("h2", "document-title");
    title.textContent = article.title;
    speak([title], article);
    this.element.append(title);
    const blocks = [];
    for (const section of article.sections) {
      if (section.heading) this.element.append(this.#heading(section, article));
      for (const paragraph of section.paragraphs) blocks.push(this.#paragraph(paragraph, article));
    }
    if (!blocks.length) this.element.append(Object.assign(make("p", "help"), { textContent: "This article has no text." }));
    this.reader.fill(blocks);
  }

  #heading({ heading, level }, article) {
    const element = make(`h${Math.max(3, Math.min(6, level + 1))}`, "section-title");
    element.textContent = heading;
    speak([element], article);
    return element;
  }

  #paragraph({ start, text, sentences, links, kind }, article) {
    const element = make("div", kind === "list_item" ? "block item" : "block");
    speak([element], article);
    this.element.append(element);
    const shown = (links ?? []).map((link) => ({ ...link, inert: !link.readable }));
    return { element, text, base: start, sentences: sentences ?? [], links: shown };
  }

  remove() {
    this.handle.remove();
    this.panel.remove();
    this.reader.caret.mark.remove();
  }
}

function make(tag, className = "") {
  const element = document.createElement(tag);
  if (className) element.className = className;
  return element;
}

function speak(elements, { lang, dir }) {
  for (const element of elements) {
    element.lang = lang;
    element.dir = dir;
  }
}
