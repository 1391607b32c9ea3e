/** Says things to screen readers without touching focus, and what everybody has to know to all. */

export class Announcer {
  constructor(element) {
    this.element = element;
  }

  say(sentence) {
    this.#put(sentence, false);
  }

  /** It is shown, too: something does not work as it was asked for, or was sent. */
  show(sentence) {
    this.#put(sentence, true);
  }

  #put(sentence, seen) {
    clearTimeout(this.clearing);
    // The same words twice are only read again when the text was empty in between.
    this.element.textContent = "";
    this.element.classList.toggle("unseen", !seen);
    requestAnimationFrame(() => { this.element.textContent = sentence; });
    this.clearing = setTimeout(() => {
      this.element.textContent = "";
      this.element.classList.add("unseen");
    }, 8000);
  }
}
