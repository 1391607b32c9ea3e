/** The page around the widgets: token, draft, clock, undo, submission, dialogs, keys. */

import { Announcer } from "./announcer.js";
import { Api, TrialApi } from "./api.js";
import { Bar } from "./bar.js";
import { Clock, follower } from "./clock.js";
import { Dialogs, listenToReports, listenToReturn, showInstructions } from "./dialogs.js";
import { Draft } from "./draft.js";
import { fit } from "./fit.js";
import { History } from "./history.js";
import { Keys } from "./keys.js";
import { Messages } from "./messages.js";
import { Preferences } from "./preferences.js";
import { tone } from "./sound.js";
import { Submission } from "./submission.js";
import { Checklist } from "../widgets/checklist.js";

const find = (selector) => document.querySelector(selector);

/** What the server put into the page. */
export function readState() {
  return JSON.parse(document.getElementById("page-state").textContent);
}

/** What is written stands on the side where the corpus's lines begin, also before its first letter. */
function turnFields([item] = []) {
  const parts = [item, item?.passage, ...(item?.paragraphs ?? []), ...(item?.documents ?? [])];
  if (parts.find((part) => part?.dir)?.dir !== "rtl") return;
  for (const field of document.querySelectorAll("[data-text], [data-query], [data-unit]")) field.dir = "rtl";
}

export class Page {
  /** kind: {collect(), restore(draft), show(), name(ref), go(ref, field), checked()};
      collect() returns {data, ui, refs}. */
  constructor(state, kind) {
    Object.assign(this, { state, kind });
    this.bar = new Bar();
    this.api = state.mode === "trial" ? new TrialApi(state.trial) : new Api(state.urls, state.token);
    this.announcer = new Announcer(find("[data-announcer]"));
    this.history = new History({ button: find("[data-action=undo]"), announcer: this.announcer });
    this.dialogs = new Dialogs();
    this.keys = new Keys();
    this.messages = new Messages({
      element: find("[data-messages]"),
      panel: find("[data-problems]"),
      on: { go: (ref, field) => kind.go(ref, field) },
    });
    this.checklist = new Checklist(find("[data-checklist]"));
    this.preferences = new Preferences({
      dialog: this.dialogs.get("preferences"), values: state.preferences, api: this.api,
    });
  }

  /** Start, once the widgets stand. */
  start() {
    this.#listen();
    turnFields(this.state.items);
    fit(document.querySelectorAll(".slots, .panel"));
    if (this.state.mode === "trial") return this.#startTrial();
    this.#startDraft();
    this.#startSubmission();
    this.#startClock();
    listenToReports(this);
    listenToReturn(this);
    showInstructions(this);
  }

  /** Whoever asks for the work tries its page: nothing is saved, and nothing handed in. */
  #startTrial() {
    this.#saveState("saved", "A trial: nothing is kept");
    find("[data-action=submit]").addEventListener("click", () => this.#tryToSubmit());
    if (this.state.told) this.#showTold(this.state.told);
  }

  /** Show what would be checked; nothing is handed in. */
  async #tryToSubmit() {
    const { status, body } = await this.api.post("submit", { data: this.#collect().data });
    if (body.problems?.length) this.#showTold(body);
    else if (status === 200) this.messages.tell("Nothing is wrong: a worker would hand this in. In a trial nothing is kept.");
    else this.messages.tell(body.message ?? "Nothing was checked: the server does not answer. Try again.");
  }

  /** What the server said of this work when it was done: advice, or why it was refused. */
  #showTold({ problems = [], hints = [] }) {
    const { refs } = this.#collect();
    this.messages.receive({ problems, hints }, refs);
    if (problems.length) this.messages.refuse(problems, refs, (ref) => this.kind.name(ref));
    this.kind.checked();
  }

  /** The work changed: save soon. */
  touch() {
    this.draft?.touch();
  }

  /** What is on the page as it is now, each ref beside its values: answers come back later. */
  #collect() {
    const taken = this.kind.collect();
    return { ...taken, data: structuredClone(taken.data), refs: taken.refs.map((ref) => ({ ref, sent: structuredClone(ref) })) };
  }

  progress(text, done, all) {
    find("[data-progress-text]").textContent = text;
    const bar = find("[data-progress-bar]");
    bar.max = all;
    bar.value = Math.min(done, all);
  }

  /** There is exactly one primary button; which one depends on what comes next. */
  primary(button) {
    for (const other of document.querySelectorAll(".button.primary")) {
      if (other !== button) other.classList.remove("primary");
    }
    button?.classList.add("primary");
  }

  #listen() {
    for (const name of ["instructions", "preferences", "report"]) {
      for (const button of document.querySelectorAll(`[data-action=${name}]`)) {
        button.addEventListener("click", () => this.dialogs.open(name));
      }
    }
    const open = () => this.dialogs.open("instructions");
    this.keys.on("?", open).on("h", open).chord("z", () => this.history.undo());
  }

  #startDraft() {
    this.draft = new Draft({
      api: this.api,
      version: this.state.draft_version,
      saved: this.state.draft?.data,
      collect: () => this.#collect(),
      on: {
        state: (name, text) => this.#saveState(name, text),
        checked: (answer, refs) => {
          this.messages.receive(answer, refs);
          this.kind.checked();
        },
        conflict: (body) => this.#conflict(body),
        ended: (message) => this.#ended(message),
        refused: (message) => this.#tellQuietly(message),
        newer: (draft) => this.#showNewer(draft),
      },
    });
    this.#saveState("saved", this.state.draft ? "Saved" : "Saves as you write");
    this.draft.catchUp();
  }

  /** Work that a reload had overtaken comes late: whoever reads or searches already stays where they are. */
  #showNewer(draft) {
    const { item } = this.kind.collect().ui;
    const stays = item && navigator.userActivation?.hasBeenActive;
    this.history.clear();
    this.kind.restore(stays ? { ...draft, ui: { ...draft?.ui, item } } : draft);
    this.#saveState("saved", "Saved");
  }

  #saveState(name, text) {
    const element = find("[data-save-state]");
    if (name === "failed" && element.dataset.saveState !== "failed") this.announcer.say(text);
    element.dataset.saveState = name;
    if (text) element.textContent = text;
  }

  #conflict(body) {
    const dialog = this.dialogs.open("conflict");
    dialog.addEventListener("cancel", (event) => event.preventDefault());
    dialog.querySelector("[data-action=keep-mine]").onclick = () => {
      dialog.close();
      this.draft.resume(body.version);
    };
    dialog.querySelector("[data-action=take-theirs]").onclick = () => {
      dialog.close();
      this.history.clear();
      this.kind.restore(body.draft);
      this.draft.resume(body.version);
    };
  }

  /** Something the page says of itself, while a hand may be writing. */
  #tellQuietly(sentence) {
    this.messages.tell(sentence, { quiet: true });
    this.announcer.say(sentence);
  }

  #ended(message) {
    const dialog = this.dialogs.open("ended");
    dialog.querySelector("[data-ended-text]").textContent = message;
  }

  #startSubmission() {
    const button = find("[data-action=submit]");
    this.submission = new Submission({
      api: this.api,
      draft: this.draft,
      collect: () => this.#collect(),
      on: {
        busy: (busy) => {
          button.setAttribute("aria-disabled", String(busy));
          button.textContent = busy ? "Submitting…" : "Submit";
        },
        problems: (problems, refs) => {
          this.messages.receive({ problems }, refs);
          this.messages.refuse(problems, refs, (ref) => this.kind.name(ref));
          this.kind.checked();
        },
        message: (sentence) => this.messages.tell(sentence),
        done: () => this.announcer.say("Submitted"),
      },
    });
    button.addEventListener("click", () => this.submission.press());
  }

  #startClock() {
    const { state, api } = this;
    this.clock = new Clock({
      serverNow: state.server_now, expiresAt: state.expires_at, extend: follower(api),
      on: { loud: () => this.preferences.values.sounds && tone() },
    });
  }
}
