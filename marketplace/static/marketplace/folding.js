// Folds the bar away while the task draws it itself, and tells the task what stands in it.

// How long a page that takes another's place in the frame may need to say that it draws the bar too.
const PATIENCE_MS = 3000;

export class Folding {
  /** on: {more(), next(isOn)}, which the task's bar asks for as one would here. */
  constructor(bar, frame, on) {
    Object.assign(this, { bar, frame, on });
    // Whatever changes here changes there: the bar has its words and its hours from one place.
    const observer = new MutationObserver(() => this.tell());
    observer.observe(bar, { subtree: true, childList: true, characterData: true, attributes: true });
    frame.addEventListener("load", () => this.#ask());
    // A page that was quicker than this script said it to nobody.
    this.#ask();
  }

  /** Hear what the task says: {bar: "own"}, or what its worker pressed in the bar it draws. */
  hear(said) {
    if (said.bar === "own") this.#fold();
    else if (!this.isFolded) return;
    else if (said.bar === "more") this.on.more();
    else if (said.bar === "next") this.on.next(said.on === true);
    else if (said.bar === "list") window.location.assign(this.bar.querySelector(".bar-home").href);
  }

  get isFolded() {
    return this.bar.classList.contains("is-folded");
  }

  /** Tell the task what stands in the bar, if it draws it and something has changed. */
  tell() {
    if (!this.isFolded) return;
    const face = this.#face();
    const words = JSON.stringify(face);
    if (words === this.told) return;
    this.told = words;
    this.frame.contentWindow.postMessage(face, this.frame.dataset.origin);
  }

  #fold() {
    clearTimeout(this.waiting);
    this.told = undefined;
    this.bar.classList.add("is-folded");
    this.tell();
  }

  /** Another page in the frame may know nothing of the bar: then it stands here again. */
  #ask() {
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.bar.classList.remove("is-folded"), PATIENCE_MS);
    this.frame.contentWindow.postMessage({ marketplace: "ready" }, "*");
  }

  #face() {
    const words = (selector) => this.bar.querySelector(selector).textContent.trim();
    const more = this.bar.querySelector("#extend-form");
    const next = this.bar.querySelector("#accepts-next");
    return {
      marketplace: "bar",
      lang: document.documentElement.lang,
      title: words("h1"),
      line: words("#bar-line"),
      pay: words(".bar-pay"),
      time: words("#countdown"),
      isLoud: this.bar.querySelector("#countdown").classList.contains("is-loud"),
      more: more && !more.hidden ? words("#extend-form button") : "",
      // What is done once has no next one.
      next: next ? words("#next-preference .wide") : "",
      isNext: next?.checked ?? false,
    };
  }
}
