/** What is written and not sent yet, kept over a reload: by the server, since a frame often may not
    keep anything, and by the browser where it may. */

const pause = 800;

export class Memory {
  /** dialog: its id; written: {dialog, draft} as the server kept it, or null; save(values). */
  constructor(dialog, written, save) {
    Object.assign(this, { key: `collector.dialog.${dialog}`, save });
    this.values = (written?.dialog === dialog && written.draft) || {};
    try {
      this.values = JSON.parse(sessionStorage.getItem(this.key)) ?? this.values;
    } catch {
      // This browser lets frames keep nothing.
    }
    window.addEventListener("pagehide", () => this.#flush());
    document.addEventListener("visibilitychange", () => document.hidden && this.#flush());
  }

  get(name) {
    return this.values[name] ?? null;
  }

  set(name, value) {
    if (JSON.stringify(this.values[name] ?? null) === JSON.stringify(value)) return;
    // A copy: whoever has set it goes on changing it.
    this.values[name] = structuredClone(value);
    this.isChanged = true;
    try {
      sessionStorage.setItem(this.key, JSON.stringify(this.values));
    } catch {
      // The server keeps it.
    }
    this.waiting ??= setTimeout(() => this.#flush(), pause);
  }

  /** Save once more what was changed since the page was loaded. */
  again() {
    if (this.isChanged) this.save(this.values);
  }

  #flush() {
    if (!this.waiting) return;
    clearTimeout(this.waiting);
    this.waiting = null;
    this.save(this.values);
  }
}
