/** The dialog page: wait for a partner, say that you are here, talk, and submit. */

import { Announcer } from "./page/announcer.js";
import { Api, TrialApi } from "./page/api.js";
import { Bar } from "./page/bar.js";
import { Clock, follower } from "./page/clock.js";
import { Dialogs, listenToReports, listenToReturn, showInstructions } from "./page/dialogs.js";
import { History } from "./page/history.js";
import { Keys } from "./page/keys.js";
import { Messages } from "./page/messages.js";
import { readState } from "./page/page.js";
import { Preferences } from "./page/preferences.js";
import { Submission } from "./page/submission.js";
import { count, amount, inAll } from "./talk/amounts.js";
import { Call } from "./talk/call.js";
import { showOver, showReady, showWaiting } from "./talk/halls.js";
import { Line, NoLine } from "./talk/line.js";
import { Outbox } from "./talk/outbox.js";
import { Talk } from "./talk/talk.js";

const find = (selector) => document.querySelector(selector);
// What is asked before a message of each type is sent; the question stands until the server has it.
const boxes = { end: "end", finish: "finish", report: "complain" };
const calls = { checking: "Your partner is here", talking: "Your turn" };
// There is nothing to save: what was said is the server's, what was not stays in this tab.
const noDraft = { save: async () => true, hold: async () => {}, release() {}, stop() {}, stopped: false };

class DialogPage {
  constructor(state) {
    this.page = state;
    this.bar = new Bar();
    this.isTrial = state.mode === "trial";
    this.api = this.isTrial ? new TrialApi() : new Api(state.urls, state.token);
    this.announcer = new Announcer(find("[data-announcer]"));
    this.dialogs = new Dialogs();
    this.keys = new Keys();
    this.messages = new Messages({ element: null, panel: find("[data-problems]"), on: {} });
    this.preferences = new Preferences({ dialog: this.dialogs.get("preferences"), values: state.preferences, api: this.api });
    this.call = new Call({ sounds: () => this.preferences.values.sounds });
    this.line = this.isTrial ? new NoLine() : new Line({
      url: state.urls.socket, token: state.token, most: state.limits.message_bytes,
      on: {
        message: (message) => this.#hear(message),
        open: () => { this.outbox.again(); this.talk.again(); },
        lost: (tries) => this.#lost(tries),
        closed: () => this.#closed(),
      },
    });
    this.outbox = new Outbox({
      line: this.line,
      on: {
        changed: () => this.#showSending(),
        taken: (message) => {
          this.dialogs.get(boxes[message.type])?.close("done");
          this.talk.taken(message);
          this.#hearAdvice(message);
        },
        refused: (sentence, message) => this.#refused(sentence, message),
      },
    });
    this.talk = new Talk({
      money: state.money, outbox: this.outbox, announcer: this.announcer,
      history: new History({ button: find("[data-action=undo]"), announcer: this.announcer }),
      on: { send: (message) => this.#send(message), keep: (message) => this.line.send(message) },
    });
    this.#listen();
    this.#startKeys();
    this.#startSubmission();
    this.#startClock();
    if (this.isTrial) {
      this.#hear({ type: "state", state: state.talk });
      this.#showLine("saved", "A trial: nothing is sent");
      return;
    }
    setInterval(() => this.#tick(), 1000);
    listenToReports(this);
    listenToReturn({
      draft: noDraft, messages: this.messages, leaving: "If a dialog goes on, it ends for your partner, too.",
    });
  }

  #send(message) {
    if (!this.isTrial) return this.outbox.send(message);
    this.dialogs.get(boxes[message?.type])?.close("done");
    return this.messages.tell("A worker would send this now. In a trial nothing is sent.");
  }

  #hear(message) {
    if (message.type === "state") this.#show(message.state);
    else if (message.type === "change") this.#change(message.change);
    else if (message.type === "taken") {
      this.outbox.taken(message.id);
      if (message.change) this.#change(message.change);
    } else if (message.id) this.outbox.refused(message);
    else this.lastWord = message.message;
  }

  /** What a move has changed of the state that is shown, its turn with it. */
  #change({ now, earned, dialog, turn }) {
    const before = this.state.dialog;
    const turns = [...before.turns.slice(0, turn.number), turn];
    this.#show({ ...this.state, written: null, now, earned, dialog: { ...before, ...dialog, turns } });
  }

  #show(state) {
    this.state = state;
    this.skew = Date.parse(state.now) - Date.now();
    this.isCut = false;
    this.#showLine("saved", "Connected");
    const { dialog, phase } = state;
    // A dialog that is over stays to be read until the one at the page has seen it.
    if (phase === "talking") this.talk.show(dialog, state.earned, state.written ?? null);
    if (phase === "done") showOver(state, this.page.money);
    this.#showScene(phase);
    this.#showProgress();
    const mine = phase === "checking" ? !dialog.ready : phase === "talking" && this.talk.myMove;
    this.call.show(mine ? calls[phase] : "");
    this.#tick();
  }

  #showScene(phase) {
    if (this.phase === phase) return;
    const before = this.phase;
    this.phase = phase;
    this.#instruct(phase);
    document.body.dataset.phase = phase;
    for (const scene of document.querySelectorAll("[data-scene]")) scene.hidden = scene.dataset.scene !== phase;
    for (const name of Object.values(boxes)) {
      if (phase !== "done" || name !== "complain") this.dialogs.get(name).close("done");
    }
    window.scrollTo(0, 0);
    if (!before || document.querySelector("dialog:modal")) return;
    const places = { waiting: "#lobby-title", checking: "[data-action=ready]", done: "#over-title" };
    if (places[phase]) find(places[phase]).focus();
    else if (this.talk.teaches) this.talk.section.focus();
    else this.talk.asking.focus();
    if (phase === "checking") this.announcer.say("Your partner is here. Say that you are here.");
    else if (phase !== "talking") this.announcer.say(find(`[data-scene=${phase}] h2`).textContent);
  }

  /** Instructions open by themselves while nothing runs: over the check its seconds would. */
  #instruct(phase) {
    const drawer = this.dialogs.get("instructions");
    if (phase === "checking" && drawer.open) {
      this.instructed = false;
      drawer.close("interrupted");
    }
    if (phase !== "waiting" || this.instructed) return;
    this.instructed = true;
    showInstructions({ dialogs: this.dialogs, state: this.page, api: this.api });
  }

  #showProgress() {
    const { phase, dialog } = this.state;
    const talking = phase === "talking";
    const words = { waiting: "Waiting for a partner", checking: "Your partner is here", done: "Ready to submit" };
    find("[data-progress-text]").textContent = talking ? `${dialog.completed} of at most ${count(dialog.max_questions, "answer")}` : words[phase];
    const bar = find("[data-progress-bar]");
    bar.max = dialog?.max_questions ?? 1;
    bar.value = phase === "done" ? bar.max : talking ? dialog.completed : 0;
  }

  #tick() {
    if (!this.state) return;
    const { phase } = this.state;
    const secondsTo = (when) => (Date.parse(when) - Date.now() - this.skew) / 1000;
    if (phase === "waiting") showWaiting(this.state, this.page.money, secondsTo);
    else if (phase === "checking") showReady(this.state, secondsTo);
    else if (phase === "talking") this.talk.tick(secondsTo, this.isCut);
  }

  #showLine(name, words) {
    const element = find("[data-line]");
    element.dataset.saveState = name;
    if (element.textContent !== words) element.textContent = words;
  }

  #lost(tries) {
    this.isCut = true;
    this.#showSending();
    this.#tick();
    this.#showLine("waiting", this.state ? "Connection lost, trying again…" : "Connecting…");
    if (tries === 1 && this.state) this.announcer.say("The connection is lost. It is tried again by itself; nothing is lost.");
    if (tries === 5 && !this.state) this.messages.tell("The live connection cannot be opened yet. It is tried again by itself; if that does not help, your network may block WebSockets.", { quiet: true });
  }

  #closed() {
    this.#showLine("ended", "Not connected");
    this.call.show("");
    const box = this.dialogs.open("ended");
    box.querySelector("[data-ended-text]").textContent = this.lastWord ?? "Open it again from the marketplace.";
  }

  #showSending() {
    const { outbox } = this;
    find("[data-action=ready]").setAttribute("aria-disabled", String(outbox.has("ready")));
    for (const [type, name] of Object.entries(boxes)) {
      const box = this.dialogs.get(name);
      const sending = outbox.has(type);
      box.querySelector("[data-action^=confirm]").setAttribute("aria-disabled", String(sending));
      if (sending) say(box, this.isCut ? "Not sent yet: the connection is lost. It is sent as soon as it is back." : "Sending…");
    }
    this.talk.showSending();
  }

  #refused(sentence, { type }) {
    const box = this.dialogs.get(boxes[type]);
    if (box?.open) say(box, sentence);
    else if (type === "ask" || type === "answer") this.talk.form.say(sentence);
    else this.messages.tell(sentence, { quiet: true });
    this.announcer.say(sentence);
    this.line.check();
  }

  /** After a question was sent: what is kindly said of it. Nothing waits for this, nor misses it. */
  async #hearAdvice({ type, id, dialog }) {
    if (type !== "ask" || !this.page.limits.advice) return;
    const number = this.talk.dialog.turns.length;
    try {
      const { body } = await this.api.post("advice", { message: id });
      if (body.hints?.length) this.talk.log.advise(dialog, number, body.hints.map(({ message }) => message).join(" "));
    } catch {
      // Without a word about it the question stands just as well.
    }
  }

  #listen() {
    const on = (name, action) => {
      for (const button of document.querySelectorAll(`[data-action=${name}]`)) button.addEventListener("click", action);
    };
    for (const name of ["instructions", "preferences", "report"]) on(name, () => this.dialogs.open(name));
    for (const [type, name] of Object.entries(boxes)) {
      const box = this.dialogs.get(name);
      box.addEventListener("close", () => box.returnValue || this.outbox.withdraw(type));
    }
    on("finish", () => this.#ask("finish"));
    on("ready", () => this.#send({ type: "ready", dialog: this.state.dialog.id }));
    on("confirm-finish", () => this.#send({ type: "finish" }));
    on("end", () => this.#askToEnd());
    on("confirm-end", () => this.#send({ type: "end", dialog: this.state.dialog.id }));
    on("complain", () => this.#askToComplain());
    find("[data-form=complaint]").addEventListener("submit", (event) => this.#complain(event));
  }

  #ask(name) {
    say(this.dialogs.get(name), "");
    this.dialogs.open(name);
  }

  #askToEnd() {
    const { dialog, earned } = this.state;
    const total = amount(inAll(earned), this.page.money);
    const so = earned.turns
      ? `You have earned ${total} so far, of it ${amount(earned.turns_cents, this.page.money)} by ${count(earned.turns, "answered question")}; that stays yours.`
      : `You have earned ${total} so far, by your wait and the HIT's own reward: no question is answered yet.`;
    const short = dialog.completed < dialog.min_pairs ? ` Dialogs with fewer than ${dialog.min_pairs} answers do not become part of the collection.` : "";
    find("[data-end-text]").textContent = `${so}${short} It ends for your partner too.`;
    this.#ask("end");
  }

  #askToComplain() {
    find("[data-form=complaint]").reset();
    this.complaintAbout = this.state.dialog.id;
    this.#ask("complain");
  }

  #complain(event) {
    event.preventDefault();
    const form = event.target;
    const reason = new FormData(form).get("reason");
    if (!reason) {
      say(this.dialogs.get("complain"), "Choose what was wrong.");
      return;
    }
    this.#send({ type: "report", dialog: this.complaintAbout, reason, note: form.querySelector("[data-complaint-note]").value });
  }

  #startKeys() {
    const { keys, talk } = this;
    const open = () => this.dialogs.open("instructions");
    keys.on("?", open).on("h", open);
    talk.answering.reply.listen(keys);
    keys.chord("z", () => talk.answering.history.undo());
    keys.on("t", () => this.phase === "talking" && (talk.teaches ? talk.section : talk.asking).focus());
    keys.on("w", () => this.phase === "talking" && !talk.teaches && talk.asking.focus());
    keys.chord("Enter", () => this.phase === "talking" && talk.form.send(), { inFields: true });
  }

  #startSubmission() {
    const button = find("[data-action=submit]");
    this.submission = new Submission({
      api: this.api, draft: noDraft, collect: () => ({ data: { dialog: true }, refs: [] }),
      on: {
        busy: (busy) => {
          button.setAttribute("aria-disabled", String(busy));
          button.textContent = busy ? "Submitting…" : "Submit";
        },
        problems: (problems) => this.messages.tell(problems.map(({ message }) => message).join(" ")),
        message: (sentence) => this.messages.tell(sentence),
        done: () => { this.line.close(); this.announcer.say("Submitted"); },
      },
    });
    button.addEventListener("click", () => {
      if (this.isTrial) this.#send();
      else if (this.outbox.messages.length) this.messages.tell("Your report is still on its way: submit when it has been sent.");
      else this.submission.press();
    });
  }

  #startClock() {
    const { page } = this;
    this.clock = new Clock({
      serverNow: page.server_now, expiresAt: page.expires_at, extend: follower(this.api), on: { loud: () => {} },
    });
  }
}

/** Say something in a box, about what it asks. */
function say(box, sentence) {
  box.querySelector("[data-box-said]").textContent = sentence;
}

new DialogPage(readState());
