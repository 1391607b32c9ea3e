/** A brief answer: words of a paragraph, grown to whole words, or one of a few choices beside them. */

import { whole } from "../text/whole_words.js";
import { Choice } from "./choice.js";
import { counted, snapped, tooLong } from "./reply.js";

const requests = {
  yes_no: "This pair is answered with yes or no: no words are marked.",
  span: "This pair is answered with words of a paragraph.",
};

export class Brief {
  /** most: words an answer may have; on: {change(), leave(), back(): to the text}. The entry that is
      shown is changed in place. */
  constructor(root, { most, history, announcer, on }) {
    Object.assign(this, { root, most, history, announcer, on });
    this.words = root.querySelector("[data-words]");
    this.yesNo = root.querySelector("[data-yes-no]");
    this.take = root.querySelector("[data-action=unpick]");
    this.choice = new Choice(this.yesNo, { change: (value) => this.choose(value) });
    this.take.addEventListener("click", () => this.clear());
    root.addEventListener("focusout", (event) => {
      if (!root.contains(event.relatedTarget)) on.leave();
    });
  }

  /** Show another entry, {type, spans}; item: its paragraphs, and the form of the answer. */
  show(entry, item) {
    Object.assign(this, { entry, item });
    this.words.hidden = item.form === "yes_no";
    this.yesNo.hidden = item.form === "span";
    this.draw();
  }

  /** Words were marked in a paragraph: they become the answer; false where they cannot. */
  mark(span) {
    if (this.item.form === "yes_no") return this.#refuse(requests.yes_no);
    const found = this.#snapped(span);
    if (!found) return false;
    if (found.count > this.most) return this.#refuse(tooLong(found.count, this.most));
    this.#set({ type: "span", spans: [found.span] }, `Answer marked: ${found.span.text}`);
    return true;
  }

  /** Words are being selected just now: say how many, before they are marked; null for none. */
  selecting(span) {
    const found = span && this.item.form !== "yes_no" && this.#snapped(span);
    if (found) this.#count(...counted(found.count, this.most));
    else this.#count("");
  }

  #snapped(span) {
    const { text, tokens } = this.item.paragraphs.find(({ document: name }) => name === span.document);
    const covered = (at) => tokens[at][0] < span.end && tokens[at][1] > span.start;
    const inside = [...tokens.keys()].filter(covered);
    const kept = inside.length ? whole([...text], tokens, inside[0], inside.at(-1)) : null;
    return kept && snapped({ ...span, start: tokens[kept[0]][0], end: tokens[kept[1]][1] }, { text, tokens });
  }

  /** Answer with one of the choices, such as "yes". */
  choose(value) {
    if (this.item.form === "span") return this.#refuse(requests.span);
    return this.#set({ type: value, spans: [] }, `Answer chosen: ${value}`);
  }

  clear() {
    const inside = this.root.contains(document.activeElement);
    this.#set({ type: null, spans: [] }, "Answer taken off");
    if (inside) this.focus();
  }

  /** What cannot be marked is said, and stays to be read until something else is. */
  #refuse(sentence) {
    this.announcer.say(sentence);
    this.#count(sentence, true);
    return false;
  }

  #set(values, label) {
    const { entry } = this;
    const before = { type: entry.type, spans: entry.spans };
    if (before.type === values.type && JSON.stringify(before.spans) === JSON.stringify(values.spans)) return;
    Object.assign(entry, values);
    this.draw();
    this.on.change();
    this.history.add(label, () => {
      Object.assign(entry, before);
      this.draw();
      this.on.change();
    });
  }

  draw() {
    const { type, spans } = this.entry;
    const [span] = type === "span" ? spans : [];
    this.root.querySelector("[data-picked]").hidden = !span;
    this.root.querySelector("[data-picked-words]").textContent = span?.text ?? "";
    this.root.querySelector("[data-pick-help]").hidden = Boolean(span);
    this.choice.show(type === "span" ? null : type);
    this.#count("");
  }

  #count(words, wrong = false) {
    const place = this.root.querySelector("[data-count]");
    place.textContent = words;
    place.classList.toggle("is-too-long", wrong);
  }

  focus() {
    if (!this.yesNo.hidden) this.choice.focus();
    else if (!this.take.closest("[hidden]")) this.take.focus();
    else this.on.back();
  }
}
