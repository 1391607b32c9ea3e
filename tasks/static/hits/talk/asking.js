/** The student's side: a question, written at any time and sent when it is one's turn. */

const countFrom = 60;

export class Asking {
  /** on: {ask(text)}; the text survives a reload. */
  constructor(form, on) {
    Object.assign(this, { form, on });
    this.text = form.querySelector("[data-question]");
    this.left = form.querySelector("[data-left]");
    this.said = form.querySelector("[data-said]");
    this.button = form.querySelector("[data-action=ask]");
    this.text.addEventListener("input", () => this.#written());
    this.text.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      this.send();
    });
    form.addEventListener("submit", (event) => { event.preventDefault(); this.send(); });
  }

  /** Another dialog begins, or the page was loaded again. */
  begin(memory, dialog) {
    this.memory = memory;
    this.most = dialog.max_question_characters;
    this.text.value = memory.get("question") ?? "";
    this.text.lang = dialog.language;
    this.#written();
  }

  show(myMove) {
    this.myMove = myMove;
    this.text.placeholder = myMove ? "" : "You may write your next question meanwhile.";
    this.busy(false);
  }

  busy(busy) {
    this.sending = busy;
    this.button.setAttribute("aria-disabled", String(busy || !this.myMove));
    this.text.readOnly = busy;
  }

  #written() {
    this.memory?.set("question", this.text.value);
    const left = this.most - [...this.text.value.trim()].length;
    this.left.textContent = left < 0 ? `${-left} characters too many` : left < countFrom ? `${left} characters left` : "";
    this.left.classList.toggle("is-wrong", left < 0);
    this.say("");
  }

  send() {
    if (this.sending) return;
    const text = this.text.value.trim();
    if (!this.myMove) this.say("Wait for the answer first; your question stays here.");
    else if (!text) this.say("Write a question first.");
    else if ([...text].length > this.most) this.say(`A question has at most ${this.most} characters; shorten it.`);
    else this.on.ask(text);
  }

  /** The server has the question. */
  taken() {
    this.text.value = "";
    this.#written();
  }

  say(sentence) {
    this.said.textContent = sentence;
  }

  focus() {
    this.text.focus({ preventScroll: true });
  }
}
