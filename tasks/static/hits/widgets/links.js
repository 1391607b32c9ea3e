/** The links of a text: a list with the title each leads to, and the ones that are picked. */

import { roving } from "../page/roving.js";

export class Links {
  /** list: where every link is a toggle; picks: where the picked ones are chips; on: {change(), leave(), may()}. */
  constructor({ list, picks, history, on }) {
    Object.assign(this, { list, picks, history, on });
    this.links = [];
    this.picked = [];
    this.enabled = true;
    this.settle = roving(list, "[data-link-title]");
    list.addEventListener("click", (event) => this.#click(event));
    picks.addEventListener("click", (event) => this.#click(event));
    picks.closest("[data-field]").addEventListener("focusout", () => on.leave?.());
  }

  #click(event) {
    const button = event.target.closest("[data-link-title]");
    if (!button || !this.enabled || !this.on.may()) return;
    const inPicks = this.picks.contains(button);
    const index = inPicks ? [...this.picks.children].indexOf(button.parentElement) : 0;
    this.toggle(button.dataset.linkTitle);
    if (inPicks) this.picks.querySelectorAll("button")[Math.min(index, this.picked.length - 1)]?.focus();
  }

  /** Show the links of another text, in its language and direction. */
  fill(links, text, { lang, dir }) {
    Object.assign(this.list, { lang, dir });
    this.links = unique(links).map((link) => ({ ...link, surface: text.slice(link.start, link.end) }));
    this.list.replaceChildren(...this.links.map((link) => this.#toggle(link)));
    this.settle();
    this.draw();
  }

  /** Show another list of picked titles; it is changed in place. */
  show(picked) {
    this.picked = picked;
    this.draw();
  }

  toggle(title) {
    const before = [...this.picked];
    const had = before.includes(title);
    const { picked } = this;
    const become = (titles) => {
      picked.splice(0, picked.length, ...titles);
      this.draw();
      this.on.change();
    };
    become(had ? before.filter((other) => other !== title) : [...before, title]);
    this.history.add(`Link ${had ? "dropped" : "picked"}: ${title}`, () => become(before));
  }

  draw() {
    for (const button of this.list.querySelectorAll("[data-link-title]")) {
      button.setAttribute("aria-pressed", String(this.picked.includes(button.dataset.linkTitle)));
    }
    this.picks.replaceChildren(...this.picked.map((title) => this.#chip(title)));
  }

  /** Point out one link in the list, or none. */
  point(title) {
    for (const button of this.list.querySelectorAll("[data-link-title]")) {
      button.classList.toggle("pointed", button.dataset.linkTitle === title);
    }
  }

  #toggle({ surface, title }) {
    const item = document.createElement("li");
    const button = document.createElement("button");
    button.type = "button";
    button.className = "toggle";
    button.dataset.linkTitle = title;
    button.setAttribute("aria-pressed", "false");
    if (surface !== title) {
      button.append(named("bdi", "toggle-surface", surface), named("span", "toggle-arrow", ""));
    }
    button.append(named("bdi", "toggle-title", title));
    item.append(button);
    return item;
  }

  #chip(title) {
    const item = document.createElement("li");
    const button = document.createElement("button");
    button.type = "button";
    button.className = "chip chip-link";
    button.dataset.linkTitle = title;
    button.title = title;
    button.setAttribute("aria-label", `Drop link: ${title}`);
    button.append(named("bdi", "chip-words", title), named("span", "chip-cross", ""));
    item.append(button);
    return item;
  }
}

function named(tag, className, textContent) {
  return Object.assign(document.createElement(tag), { className, textContent });
}

/** One entry for each pair of words and title. */
function unique(links) {
  const seen = new Set();
  return links.filter(({ title }) => !seen.has(title) && seen.add(title));
}
