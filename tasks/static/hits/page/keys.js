/** Single keys, only outside text fields, never with a modifier; and two chords. Esc leaves a field. */

// Fields that take numbers alone leave letters to the page.
const numbers = "[data-sentence]";
const numeric = /^[\d\s,;–-]$/;
const typing = "input:not([type=radio]):not([type=checkbox]):not([type=button]), textarea, select, [contenteditable]";

export class Keys {
  constructor() {
    this.single = new Map();
    this.chords = new Map();
    document.addEventListener("keydown", (event) => this.#press(event));
  }

  /** A key outside text fields: on("[", action). */
  on(key, action) {
    this.single.set(key, action);
    return this;
  }

  /** Ctrl (or ⌘) with a key: chord("Enter", action, {inFields: true}). */
  chord(key, action, { inFields = false } = {}) {
    this.chords.set(key, { action, inFields });
    return this;
  }

  #press(event) {
    if (event.defaultPrevented || event.isComposing || event.repeat && event.key.length > 1) return;
    if (document.querySelector("dialog:modal")) return;
    const lettered = event.key.length === 1 && !numeric.test(event.key);
    const inField = event.target.matches?.(typing) && !(lettered && event.target.matches(numbers));
    const control = event.ctrlKey || event.metaKey;
    if (control) {
      const chord = !event.altKey && !event.shiftKey && this.chords.get(event.key);
      if (!chord || (inField && !chord.inFields)) return;
      event.preventDefault();
      chord.action(event);
      return;
    }
    if (inField && event.key === "Escape") return event.target.blur();
    // AltGr types "[" and "]" on many keyboards and reports Alt with Control.
    if (inField || event.altKey && !event.getModifierState("AltGraph")) return;
    const action = this.single.get(event.key);
    if (action || event.target.matches?.(numbers)) event.preventDefault();
    action?.(event);
  }
}
