/** The time that is left: quiet until ten minutes remain. */

const loudSeconds = 600;

export class Clock {
  /** serverNow, expiresAt: seconds since 1970; on: {loud(), over()}. */
  constructor({ element, button, serverNow, expiresAt, canExtend, announcer, on }) {
    Object.assign(this, { element, button, expiresAt, canExtend, announcer, on });
    this.skew = serverNow - Date.now() / 1000;
    this.said = new Set();
    this.tick();
    setInterval(() => this.tick(), 1000);
  }

  get secondsLeft() {
    return Math.round(this.expiresAt - (Date.now() / 1000 + this.skew));
  }

  extend(expiresAt) {
    this.expiresAt = expiresAt;
    this.canExtend = false;
    this.said.clear();
    this.tick();
  }

  tick() {
    const left = this.secondsLeft;
    const loud = left <= loudSeconds;
    const text = this.#words(left);
    if (this.element.textContent !== text) this.element.textContent = text;
    this.element.classList.toggle("loud", loud);
    this.button.toggleAttribute("data-vacant", !(loud && left > 0 && this.canExtend));
    if (loud) this.#say(left);
  }

  #words(left) {
    if (left <= 0) return "Time is up";
    if (left <= loudSeconds) return `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")} left`;
    const minutes = Math.ceil(left / 60);
    return minutes < 100 ? `${minutes} min left` : `${Math.round(minutes / 60)} h left`;
  }

  #say(left) {
    const mark = [0, 60, 300, 600].find((seconds) => left <= seconds);
    if (this.said.has(mark)) return;
    this.said.add(mark);
    if (mark === 600) this.on.loud();
    if (mark === 0) this.on.over();
    else this.announcer.say(`${Math.ceil(left / 60)} minutes left`);
  }
}
