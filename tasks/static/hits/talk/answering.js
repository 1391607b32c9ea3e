/** The teacher's side: a reply to the question, kept over a reload and sent when it is whole. */

import { isWhole } from "../widgets/checklist.js";
import { Reply, blankReply, partsOf } from "../widgets/reply.js";

export class Answering {
  /** on: {answer(fields), changed()}. */
  constructor(form, { on, announcer, history }) {
    Object.assign(this, { form, on, history });
    this.said = form.querySelector("[data-said]");
    this.button = form.querySelector("[data-action=answer]");
    this.reply = new Reply(form.querySelector("[data-widget=reply]"), {
      most: 0, continuation: true, history, announcer,
      on: { change: () => this.#changed(), sentence: () => null },
    });
    form.addEventListener("submit", (event) => { event.preventDefault(); this.send(); });
  }

  /** Another dialog begins, or the page was loaded again. */
  begin(memory, dialog) {
    Object.assign(this, { memory, number: -1 });
    this.reply.limit(dialog.max_span_tokens);
    this.reply.read({ text: dialog.section, tokens: dialog.tokens });
  }

  /** dialog: as the server tells it; a new question starts with nothing chosen. */
  show(dialog, myMove) {
    this.myMove = myMove;
    const number = myMove ? dialog.turns.length - 1 : -1;
    if (number !== this.number || !this.given) {
      const kept = this.memory.get("reply");
      this.given = number >= 0 && kept?.number === number ? kept.given : blankReply();
      this.number = number;
      this.history.clear();
      this.reply.show(this.given);
      this.say("");
    }
    this.busy(false);
  }

  busy(busy) {
    this.sending = busy;
    this.button.setAttribute("aria-disabled", String(busy || !this.myMove));
    this.reply.lock(busy || !this.myMove);
  }

  get ranges() {
    return this.reply.ranges;
  }

  #changed() {
    this.memory.set("reply", { number: this.number, given: this.given });
    this.say("");
    this.on.changed();
  }

  send() {
    if (this.sending) return;
    const { type, spans, affirmation, continuation } = this.given;
    if (!this.myMove) this.say("Wait for the question first.");
    else if (isWhole(partsOf(this.given, true))) {
      const [span] = type === "span" ? spans : [];
      this.on.answer({ start: span?.start ?? null, end: span?.end ?? null, affirmation, continuation });
    } else if (!type) this.say("Mark the answer in the section, or choose “No answer”.");
    else if (!affirmation) this.say("Choose yes, no or neither.");
    else this.say("Choose whether your partner should ask more about this.");
  }

  /** The server has the answer. */
  taken() {
    this.memory.set("reply", null);
  }

  say(sentence) {
    this.said.textContent = sentence;
  }
}
