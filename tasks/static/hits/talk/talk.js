/** The dialog itself: what one reads, what was said, whose move it is, what one says next. */

import { amount, count, inAll, minutes } from "./amounts.js";
import { Answering } from "./answering.js";
import { Asking } from "./asking.js";
import { Log } from "./log.js";
import { Memory } from "./memory.js";
import { SectionText } from "./section.js";

const find = (selector) => document.querySelector(selector);
const put = (selector, words) => {
  const element = find(selector);
  if (element.textContent !== words) element.textContent = words;
};
// Before the last minutes of a move its clock is quiet.
const loudSeconds = 120;

export class Talk {
  /** on: {send(message): until it is taken, keep(message): once}. */
  constructor({ money, outbox, announcer, history, on }) {
    Object.assign(this, { money, outbox, announcer, on });
    this.log = new Log(find("[data-log]"));
    this.asking = new Asking(find("[data-form=question]"), {
      ask: (text) => on.send({ type: "ask", dialog: this.dialog.id, text }),
    });
    this.answering = new Answering(find("[data-form=answer]"), {
      announcer, history,
      on: {
        answer: (fields) => on.send({ type: "answer", dialog: this.dialog.id, ...fields }),
        changed: () => this.#showMarks(),
      },
    });
    this.section = new SectionText(find("[data-document=section]"), {
      mark: (span) => this.answering.reply.mark(span),
      unmark: () => this.answering.reply.clear(),
      selecting: (span) => this.answering.reply.selecting(span),
      selected: (text) => announcer.say(`Selected: ${text}`),
    });
  }

  get teaches() {
    return this.dialog?.role === "teacher";
  }

  get myMove() {
    return Boolean(this.dialog) && this.dialog.to_move === this.dialog.role;
  }

  /** The form of one's role. */
  get form() {
    return this.teaches ? this.answering : this.asking;
  }

  /** Show a dialog as the server tells it; earned: by the whole HIT; written: what it kept of this
      side, at first. */
  show(dialog, earned, written) {
    this.written ??= written;
    const isNew = this.dialog?.id !== dialog.id;
    const moved = isNew || this.dialog.to_move !== dialog.to_move;
    this.dialog = dialog;
    if (isNew) this.#begin();
    this.log.show(dialog);
    if (this.teaches) this.answering.show(dialog, this.myMove);
    else this.asking.show(this.myMove);
    this.showSending();
    this.#showMarks();
    this.#showPay(earned);
    if (moved) this.announcer.say(find("[data-move-title]").textContent = this.moveTitle);
    find("[data-move]").classList.toggle("is-mine", this.myMove);
  }

  #begin() {
    const { dialog } = this;
    document.body.dataset.role = dialog.role;
    this.memory = new Memory(dialog.id, this.written, (draft) => this.on.keep({ type: "draft", dialog: dialog.id, draft }));
    this.written = null;
    put("[data-role-name]", this.teaches ? "You are the teacher: you answer" : "You are the student: you ask");
    put("[data-topic-title]", dialog.title);
    const background = find("[data-background-text]");
    Object.assign(background, { textContent: dialog.background, lang: dialog.language, dir: dialog.direction });
    find("[data-background]").open = !this.teaches;
    find("[data-section-part]").hidden = !this.teaches;
    find("[data-unseen-part]").hidden = this.teaches;
    put(this.teaches ? "[data-section-title]" : "[data-unseen-title]", dialog.heading);
    find("[data-form=question]").hidden = this.teaches;
    find("[data-form=answer]").hidden = !this.teaches;
    if (this.teaches) this.section.fill(dialog);
    this.form.begin(this.memory, dialog);
  }

  get moveTitle() {
    const number = this.dialog.turns.length;
    if (this.teaches) return this.myMove ? `Your turn: answer question ${number}` : `Your partner is writing question ${number + 1}`;
    return this.myMove ? `Your turn: ask question ${number + 1}` : "Your partner is looking for the answer";
  }

  #showMarks() {
    if (!this.teaches) return;
    const before = this.dialog.turns.map((turn) => turn.answer).filter((said) => said && said.start !== null);
    this.section.show(this.answering.ranges, before, this.myMove);
  }

  #showPay(earned) {
    const { next_cents: next, questions_left: left, unanswerable_left: none } = this.dialog;
    const by = earned.turns ? `, of it ${amount(earned.turns_cents, this.money)} by ${count(earned.turns, "answer")}` : "";
    const so = `Earned so far: ${amount(inAll(earned), this.money)}${by}`;
    const ends = none === 1 ? "one more “No answer” ends" : `${none} more “No answer” end`;
    put("[data-pay]", `${so}. Next answer: ${amount(next, this.money)}. ${count(left, "question")} left; ${ends} the dialog.`);
  }

  /** While a question or an answer is on its way, it is not changed. */
  showSending() {
    if (this.dialog) this.form.busy(this.outbox.has("ask", "answer"));
  }

  /** Every second; secondsTo(iso): how long until then; isCut: one's own line is. */
  tick(secondsTo, isCut) {
    const { partner_present: present, back_until: back, until } = this.dialog;
    const left = until ? secondsTo(until) : Infinity;
    const clock = left < loudSeconds ? ` ${minutes(left)} left for this move.` : "";
    const away = isCut
      ? "Your own connection is lost: what your partner does shows when it is back."
      : `Your partner’s connection is lost: we wait ${minutes(secondsTo(back))} for them.`;
    const isThere = !isCut && (present || !back);
    put("[data-partner]", isThere ? `Your partner is connected.${clock}` : away);
    find("[data-partner]").classList.toggle("is-away", isCut || !present);
  }

  /** The connection is back: what was kept of this side on the way may be lost. */
  again() {
    this.memory?.again();
  }

  /** The server has a move of ours. */
  taken({ type, dialog }) {
    if (dialog !== this.dialog?.id) return;
    if (type === "ask") this.asking.taken();
    if (type === "answer") this.answering.taken();
  }
}
