/** Skips what no good question can be asked about, for one of a few reasons or in words. */

import { Choice } from "./choice.js";
import { TextField } from "./text.js";

export class Skip {
  /** most: how many may be skipped, of one HIT; entries(): all of it; on: {change(), leave(),
      write()}. The entry shown, {skipped, reason}, is changed in place; what was written is kept. */
  constructor(root, { most, entries, page: { messages, history }, on }) {
    Object.assign(this, { root, most, entries, messages, history, on });
    this.button = document.querySelector("[data-action=skip]");
    this.written = document.querySelector("[data-written]");
    this.button.querySelector("kbd").before(Object.assign(document.createElement("small"), { textContent: `${most} at most ` }));
    this.button.addEventListener("click", () => this.turn());
    this.choice = new Choice(root.querySelector("fieldset"), { change: () => this.#set() });
    this.words = new TextField(root.querySelector("[data-field=reason]"), { change: () => this.#set() });
    this.reasons = this.choice.inputs.map((input) => input.value).filter(Boolean);
    root.querySelector("[data-action=unskip]").addEventListener("click", () => this.turn());
    root.addEventListener("focusout", (event) => {
      if (!root.contains(event.relatedTarget)) on.leave();
    });
  }

  #set() {
    const kind = this.choice.inputs.find((input) => input.checked)?.value ?? "";
    this.entry.reason = [kind, this.words.value.trim()].filter(Boolean).join(" ");
    this.on.change();
  }

  /** How many are skipped. */
  get used() {
    return this.entries().filter(({ skipped }) => skipped).length;
  }

  /** Skip what is shown, or write about it after all. */
  turn() {
    const { entry } = this;
    if (!entry.skipped && this.used >= this.most) {
      this.messages.tell(`At most ${this.most} of this HIT can be skipped. Take another skip back, or report a problem with this HIT.`);
      return;
    }
    this.#put(entry, !entry.skipped);
    this.history.add(entry.skipped ? "Skipped" : "Skip taken back", () => this.#put(entry, !entry.skipped));
    if (entry.skipped) this.focus();
    else this.on.write();
  }

  #put(entry, skipped) {
    entry.skipped = skipped;
    if (entry === this.entry) this.show(entry);
    this.on.change();
  }

  /** Show another entry. */
  show(entry) {
    this.entry = entry;
    this.root.hidden = !entry.skipped;
    this.written.hidden = entry.skipped;
    this.button.toggleAttribute("data-vacant", entry.skipped);
    this.root.querySelector("[data-skip-note]").textContent = `It counts as done and is paid. ${this.used} of ${this.most} skips used.${entry.text.trim() ? " What you wrote about it is kept." : ""}`;
    const kind = this.reasons.find((reason) => entry.reason.startsWith(reason));
    this.choice.show(kind ?? (entry.reason ? "" : null));
    this.words.show(kind ? entry.reason.slice(kind.length).trim() : entry.reason);
  }

  focus() {
    if (this.entry.skipped) this.choice.focus();
    else this.button.focus();
  }
}
