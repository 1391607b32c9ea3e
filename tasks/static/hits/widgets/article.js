/** The documents beside a question: the passage and the articles that were opened, as tabs. */

import { Reader } from "../text/reader.js";
import { Search } from "../text/search.js";
import { Finder } from "./finder.js";
import { Tab } from "./tab.js";

const mostArticles = 4;

export class Article {
  /** api.post("article", {item, title}); on: {mark, unmark, selected, hover, shown(tab), failed(sentence)}. */
  constructor(root, { api, on }) {
    Object.assign(this, { root, api, on });
    this.bar = root.querySelector("[data-tabs]");
    this.place = root.querySelector("[data-documents]");
    this.finder = new Finder(root.querySelector("[data-search]"), { back: () => this.focus() });
    this.question = new Reader(root.querySelector("[data-document=question]"), { document: "question", label: "Question", on });
    this.questionBlock = document.createElement("div");
    this.question.element.append(this.questionBlock);
    this.tabs = [];
    this.fetched = new Map();
    this.bar.addEventListener("keydown", (event) => this.#arrows(event));
  }

  /** Show another item: {id, question, passage}; its articles start closed. */
  fill(item) {
    this.item = item;
    const { passage } = item;
    this.finder.clear();
    this.questionBlock.lang = passage.lang;
    this.questionBlock.dir = passage.dir;
    this.question.fill([{ element: this.questionBlock, text: item.question }]);
    for (const tab of this.tabs) tab.remove();
    this.tabs = [];
    this.current = null;
    const main = this.#add("main", "Passage", false);
    main.fillPassage(passage);
    this.show(main);
  }

  #add(name, label, closable) {
    const tab = new Tab({
      name, label, closable,
      on: {
        ...this.on,
        show: () => this.show(tab),
        close: () => this.close(tab),
        link: (title) => this.open(title),
      },
    });
    this.tabs.push(tab);
    this.bar.append(tab.handle);
    this.place.append(tab.panel);
    return tab;
  }

  /** Open a linked article in a tab of its own. */
  async open(title) {
    const open = this.tabs.find((tab) => tab.name === title);
    if (open) return this.show(open);
    const { item } = this;
    const key = `${item.id}\n${title}`;
    try {
      if (!this.fetched.has(key)) this.fetched.set(key, await this.#fetch(item, title));
    } catch (error) {
      this.fetched.delete(key);
      return this.on.failed(error.message);
    }
    if (this.item !== item || this.tabs.some((tab) => tab.name === title)) return undefined;
    const old = this.tabs.filter((tab) => tab.name !== "main" && tab !== this.current);
    if (this.tabs.length > mostArticles && old.length) this.close(old[0]);
    const tab = this.#add(title, title, true);
    tab.fillArticle(this.fetched.get(key));
    return this.show(tab);
  }

  async #fetch(item, title) {
    this.root.classList.add("is-opening");
    try {
      const { status, body } = await this.api.post("article", { item: item.id, title });
      if (status === 200) return body;
      throw new Error(body.message ?? `“${title}” could not be opened.`);
    } catch (error) {
      if (error instanceof TypeError || error.name === "TimeoutError") {
        throw new Error(`“${title}” could not be opened: the server did not answer. Click the link again.`);
      }
      throw error;
    } finally {
      this.root.classList.remove("is-opening");
    }
  }

  /** Bring a tab to the front, at the place where it was left. */
  show(tab) {
    if (this.current === tab) return;
    if (this.current) this.current.scroll = window.scrollY;
    const before = this.current;
    const inside = before?.panel.contains(document.activeElement);
    this.current = tab;
    for (const other of this.tabs) other.select(other === tab);
    if (inside) this.focus();
    this.finder.use(tab.reader, tab.searches ??= tab.reader.surfaces.map((surface) => ({
      base: surface.base, search: new Search(surface.text),
    })));
    window.scrollTo(0, tab.scroll);
    this.on.shown(tab, before);
  }

  close(tab = this.current) {
    if (!tab || tab.name === "main") return;
    const focused = tab.panel.contains(document.activeElement) || tab.handle.contains(document.activeElement);
    if (tab === this.current) this.show(this.tabs[0]);
    tab.remove();
    this.tabs = this.tabs.filter((other) => other !== tab);
    if (focused) this.focus();
  }

  /** Put the caret's focus on the document in front. */
  focus() {
    this.current.reader.element.focus({ preventScroll: true });
  }

  /** To the next tab, round and round. */
  turn() {
    const index = this.tabs.indexOf(this.current);
    this.show(this.tabs[(index + 1) % this.tabs.length]);
  }

  #arrows(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const index = this.tabs.indexOf(this.current) + step;
    const tab = this.tabs[(index + this.tabs.length) % this.tabs.length];
    this.show(tab);
    tab.button.focus();
  }

  /** Every reader on the page by the name of its document. */
  get readers() {
    return [this.question, ...this.tabs.map((tab) => tab.reader)];
  }
}
