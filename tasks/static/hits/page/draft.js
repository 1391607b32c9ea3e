/** Saves the work to the server as it is written, and brings back the live checks. */

import { uuid } from "./uuid.js";

const pauseSeconds = 1;
const longestWaitSeconds = 6;
const longestHoldSeconds = 2;
// A server that was away is asked again this often, by each page in its own time.
const longestRetrySeconds = 4;

export class Draft {
  /** version, saved: number and data of the newest draft that the server has; collect() returns
      {data, ui, refs}; on: {state(name, text), checked(answer, refs),
      conflict(body), ended(message), refused(message), newer(draft)}. */
  constructor({ api, version, saved, collect, on }) {
    Object.assign(this, { api, version, saved, collect, on });
    // By both the server knows a save of this tab again of which the tab was told nothing.
    this.tab = uuid();
    this.turn = 0;
    this.dirty = false;
    this.saving = null;
    this.failures = 0;
    this.stopped = false;
    this.held = false;
    window.addEventListener("online", () => this.dirty && this.save());
    window.addEventListener("pagehide", () => this.leave());
    document.addEventListener("visibilitychange", () => document.hidden && this.dirty && this.save());
  }

  /** A reload can overtake what the page before it sent when it went: look once whether it came. */
  async catchUp() {
    const begun = this.collect().data;
    let answer;
    try {
      answer = await this.api.post("draft", { version: this.version });
    } catch {
      return;
    }
    const { status, body } = answer;
    if (status !== 200 || this.saving || body.version === this.version) return;
    // Who has only turned to another question has written nothing that this could replace.
    if (this.dirty && !same(this.collect().data, begun)) return;
    this.version = body.version;
    this.saved = body.draft?.data;
    this.on.newer(body.draft);
  }

  /** Something changed: save soon, when the hand rests. */
  touch() {
    if (this.stopped) return;
    this.dirty = true;
    if (!this.failures && !this.saving) this.on.state("unsaved");
    this.since ??= Date.now();
    const waited = (Date.now() - this.since) / 1000;
    const delay = Math.max(0, Math.min(pauseSeconds, longestWaitSeconds - waited));
    this.#schedule(delay);
  }

  #schedule(seconds) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.save(), seconds * 1000);
  }

  /** Save now; resolves to true when everything on the page is on the server. */
  async save() {
    if (this.stopped || this.held) return false;
    if (this.saving) {
      await this.saving;
      return this.dirty ? this.save() : true;
    }
    clearTimeout(this.timer);
    this.saving = this.#send();
    try {
      return await this.saving;
    } finally {
      this.saving = null;
      if (this.dirty && !this.failures && !this.stopped) this.#schedule(pauseSeconds);
    }
  }

  async #send() {
    const { data, ui, refs } = this.collect();
    this.dirty = false;
    this.since = null;
    this.on.state("saving", "Saving…");
    let answer;
    try {
      answer = await this.api.post("draft", this.#numbered(data, ui));
    } catch {
      this.sent = data;
      return this.#failed();
    }
    // The work was handed in meanwhile: what a late save is told concerns nobody any more.
    if (this.stopped) return answer.status === 200;
    if (answer.status === 409 && this.#isOurs(answer.body, data)) {
      this.version = answer.body.version;
      return this.#send();
    }
    this.sent = data;
    if (answer.status === 200) this.saved = data;
    return this.#answered(answer, refs);
  }

  /** What is sent to be saved. */
  #numbered(data, ui) {
    this.turn += 1;
    return { version: this.version, draft: { data, ui, saved_by: { tab: this.tab, turn: this.turn } } };
  }

  /** Another tab that only looked around is no conflict. */
  #isOurs(body, data) {
    const theirs = body.draft?.data;
    return body.version !== this.version && [this.saved, this.sent, data].some((own) => same(theirs, own));
  }

  #answered({ status, body }, refs) {
    if (status === 200) {
      this.failures = 0;
      this.version = body.version ?? this.version;
      this.on.state(this.dirty ? "unsaved" : "saved", `Saved ${clockTime(body.saved_at)}`);
      this.on.checked(body, refs);
      return true;
    }
    if (status === 409) {
      this.stopped = true;
      this.dirty = true;
      this.on.state("waiting", "Open in two tabs");
      this.on.conflict(body);
      return false;
    }
    if (status === 401 || status === 403 || status === 410) {
      this.stopped = true;
      this.on.state("ended", "Closed: not saving");
      this.on.ended(body.message ?? "This HIT is closed.");
      return false;
    }
    if (status === 400 || status === 413 || status === 422) {
      this.dirty = true;
      this.failures = 1;
      this.on.state("failed", "Not saved");
      this.on.refused(body.message ?? "This could not be saved: shorten the longest text.");
      return false;
    }
    return this.#failed();
  }

  #failed() {
    this.dirty = true;
    this.failures += 1;
    this.on.state("failed", "Not saved — retrying");
    this.#schedule(Math.min(longestRetrySeconds, 2 ** this.failures) * (0.5 + Math.random() / 2));
    return false;
  }

  /** Go on after a conflict with this page's work over the other tab's version. */
  resume(version) {
    this.version = version;
    this.stopped = false;
    this.dirty = true;
    return this.save();
  }

  /** The page may vanish: send what is unsaved without waiting for the answer. */
  leave() {
    if (!this.dirty || this.stopped) return;
    const { data, ui } = this.collect();
    clearTimeout(this.timer);
    this.api.post("draft", this.#numbered(data, ui), { keepalive: true })
      .then(({ status, body }) => {
        if (status === 200) {
          this.version = body.version ?? this.version;
          this.dirty = false;
          this.on.state("saved", `Saved ${clockTime(body.saved_at)}`);
        }
      })
      .catch(() => this.#failed());
  }

  /** Save nothing while the work is handed in: what came after it would be refused. Resolves when
      what is on its way has come, or takes too long. */
  async hold() {
    this.held = true;
    clearTimeout(this.timer);
    const tooLong = new Promise((resolve) => setTimeout(resolve, longestHoldSeconds * 1000));
    await Promise.race([this.saving, tooLong]);
  }

  /** The work was not handed in: go on saving. */
  release() {
    this.held = false;
    if (this.dirty && !this.stopped) this.#schedule(pauseSeconds);
  }

  stop() {
    this.stopped = true;
    clearTimeout(this.timer);
  }
}

/** Equal JSON, whatever the order of keys; nothing saved yet equals nothing. */
function same(one, other) {
  if (one === other) return true;
  if (typeof one !== "object" || typeof other !== "object" || !one || !other) return (one ?? null) === (other ?? null);
  const [keys, others] = [Object.keys(one), Object.keys(other)];
  return keys.length === others.length && keys.every((key) => Object.hasOwn(other, key) && same(one[key], other[key]));
}

/** saved_at as seconds since 1970 or as ISO 8601; returns the hour and minute here, by the reader's own clock
    (12 or 24 hours), as the marketplace's bar above writes them. */
function clockTime(savedAt) {
  const moment = typeof savedAt === "number" ? new Date(savedAt * 1000) : new Date(savedAt ?? Date.now());
  return moment.toLocaleTimeString([], { timeStyle: "short" });
}
