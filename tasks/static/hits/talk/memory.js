/** What is written and not sent yet, kept over a reload; a browser that forbids it only forgets. */

export class Memory {
  /** dialog: the dialog's id; every dialog has a memory of its own. */
  constructor(dialog) {
    this.key = `collector.dialog.${dialog}`;
    this.values = {};
    try {
      this.values = JSON.parse(sessionStorage.getItem(this.key)) ?? {};
    } catch {
      // Nothing is kept, or nothing may be.
    }
  }

  get(name) {
    return this.values[name] ?? null;
  }

  set(name, value) {
    this.values[name] = value;
    try {
      sessionStorage.setItem(this.key, JSON.stringify(this.values));
    } catch {
      // The page remembers it as long as it stands.
    }
  }

  clear() {
    this.values = {};
    try {
      sessionStorage.removeItem(this.key);
    } catch {
      // There was nothing.
    }
  }
}
