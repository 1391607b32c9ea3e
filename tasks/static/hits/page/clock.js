/** How long the worker's place is held: quiet until ten minutes remain.

The marketplace shows the one clock that always runs. It learns from here when the place ends, which
is before its own deadline while more time can still be asked for. */

const loudSeconds = 600;
const spokenMinutes = [1, 5, 10];

export class Clock {
  /** serverNow, expiresAt: seconds since 1970; on: {loud(), over()}. */
  constructor({ element, button, serverNow, expiresAt, canExtend, announcer, on }) {
    Object.assign(this, { element, button, expiresAt, canExtend, announcer, on });
    this.skew = serverNow - Date.now() / 1000;
    this.said = new Set();
    this.#tell();
    this.tick();
    setInterval(() => this.tick(), 1000);
  }

  get secondsLeft() {
    return Math.round(this.expiresAt - (Date.now() / 1000 + this.skew));
  }

  /** What is said of the time that is left. */
  get sentence() {
    const minutes = Math.ceil(this.secondsLeft / 60);
    return `Your place is held for ${minutes} more minute${minutes === 1 ? "" : "s"}.`;
  }

  extend(expiresAt) {
    this.expiresAt = expiresAt;
    this.canExtend = false;
    this.said.clear();
    this.#tell();
    this.tick();
  }

  /** Tell the page around this one until when it may count. */
  #tell() {
    window.parent.postMessage({ collector: "time", ends: this.expiresAt }, "*");
  }

  tick() {
    const left = this.secondsLeft;
    const loud = left <= loudSeconds;
    const text = loud ? words(left) : "";
    if (this.element.textContent !== text) this.element.textContent = text;
    this.element.title = loud && left > 0 ? "After that, somebody else may take your place. Your work stays saved." : "";
    this.button.toggleAttribute("data-vacant", !(loud && left > 0 && this.canExtend));
    if (loud) this.#say(left);
  }

  #say(left) {
    const mark = left <= 0 ? 0 : spokenMinutes.find((minutes) => left <= minutes * 60);
    if (this.said.has(mark)) return;
    this.said.add(mark);
    if (mark === spokenMinutes.at(-1)) this.on.loud();
    if (mark === 0) this.on.over();
    else this.announcer.say(this.sentence);
  }
}

/** Whole minutes: a second hand would only hurry. */
function words(left) {
  if (left <= 0) return "Place no longer held";
  return left < 60 ? "Held for less than a minute" : `Place held ${Math.ceil(left / 60)} min more`;
}
