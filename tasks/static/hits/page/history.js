/** What can be undone: one entry for each mark, pick and deletion. */

export class History {
  constructor({ button, announcer }) {
    Object.assign(this, { button, announcer });
    this.entries = [];
    button.addEventListener("click", () => this.undo());
  }

  /** Remember how to take back what was just done; label: "Evidence marked". */
  add(label, undo) {
    this.entries.push({ label, undo });
    if (this.entries.length > 200) this.entries.shift();
    this.announcer.say(label);
    this.#show();
  }

  undo() {
    const entry = this.entries.pop();
    if (!entry) return this.announcer.show("Nothing to undo");
    entry.undo();
    this.announcer.say(`Undone: ${entry.label}`);
    this.#show();
  }

  clear() {
    this.entries = [];
    this.#show();
  }

  #show() {
    const last = this.entries.at(-1);
    this.button.setAttribute("aria-disabled", String(!last));
    this.button.title = last ? `Undo: ${last.label}` : "";
  }
}
