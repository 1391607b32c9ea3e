/** A field for free words. */

/** True when a text has so many words or more. */
export function hasWords(text, least) {
  return (text.match(/[\p{L}\p{N}\p{M}_]+(?:['’-][\p{L}\p{N}\p{M}_]+)*/gu) ?? []).length >= least;
}

export class TextField {
  /** on: {change(words), leave()}. */
  constructor(root, on) {
    this.root = root;
    this.input = root.querySelector("[data-text]");
    this.input.addEventListener("input", () => on.change(this.input.value));
    this.input.addEventListener("blur", () => on.leave?.());
  }

  get value() {
    return this.input.value;
  }

  /** Show other words, in this language; the caret of a field in use is left alone. */
  show(words, lang) {
    if (this.input.value !== words) this.input.value = words;
    if (lang) this.input.lang = lang;
  }

  focus() {
    this.input.focus();
  }
}
