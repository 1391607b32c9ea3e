/** Why no good question can be asked about something: one of a few reasons, or words. */

import { Choice } from "./choice.js";
import { TextField } from "./text.js";

export class Skip {
  /** most: how many may be skipped; on: {change(), leave(), back()}. The entry shown,
      {skipped, reason}, is changed in place. */
  constructor(root, { most, on }) {
    Object.assign(this, { root, most, on });
    this.choice = new Choice(root.querySelector("fieldset"), { change: () => this.#set() });
    this.words = new TextField(root.querySelector("[data-field=reason]"), { change: () => this.#set() });
    this.reasons = this.choice.inputs.map((input) => input.value).filter(Boolean);
    root.querySelector("[data-action=unskip]").addEventListener("click", () => on.back());
    root.addEventListener("focusout", (event) => {
      if (!root.contains(event.relatedTarget)) on.leave();
    });
  }

  #set() {
    const kind = this.choice.inputs.find((input) => input.checked)?.value ?? "";
    this.entry.reason = [kind, this.words.value.trim()].filter(Boolean).join(" ");
    this.on.change();
  }

  /** Show another entry; used: how many are skipped. */
  show(entry, used) {
    this.entry = entry;
    this.root.hidden = !entry.skipped;
    this.tell(used);
    const kind = this.reasons.find((reason) => entry.reason.startsWith(reason));
    this.choice.show(kind ?? (entry.reason ? "" : null));
    this.words.show(kind ? entry.reason.slice(kind.length).trim() : entry.reason);
  }

  tell(used) {
    this.root.querySelector("[data-skip-note]").textContent = `It counts as done and is paid. ${used} of ${this.most} skips used. What you wrote about it is kept.`;
  }

  focus() {
    this.choice.focus();
  }
}
