/** Says things to screen readers without touching focus. */

export class Announcer {
  constructor(element) {
    this.element = element;
  }

  say(sentence) {
    clearTimeout(this.clearing);
    // The same words twice are only read again when the text was empty in between.
    this.element.textContent = "";
    requestAnimationFrame(() => { this.element.textContent = sentence; });
    this.clearing = setTimeout(() => { this.element.textContent = ""; }, 8000);
  }
}
