/** What was sent and not yet taken, in order: the first goes out again, under the same id, until the server has it. */

import { uuid } from "../page/uuid.js";

export class Outbox {
  /** on: {changed(), refused(sentence, message), taken(message)}. */
  constructor({ line, on }) {
    Object.assign(this, { line, on });
    this.messages = [];
    // Whether the first went out over the connection there is.
    this.isOut = false;
  }

  /** Send a message after those that wait; it is kept until the server has it.
      A page that is loaded again need not know of it: what was taken is in the state, the rest in the draft. */
  send(message) {
    if (this.messages.some(({ type, dialog }) => type === message.type && dialog === message.dialog)) return;
    this.messages.push({ ...message, id: uuid() });
    this.#next();
  }

  /** Send the first: at once, and after every new connection. */
  again() {
    clearTimeout(this.waiting);
    this.isOut = this.messages.length > 0 && this.line.send(this.messages[0]);
  }

  /** Whether a message of one of these types waits. */
  has(...types) {
    return this.messages.some(({ type }) => types.includes(type));
  }

  /** Send a message of this type no more; what the server has of it, its next state tells. */
  withdraw(type) {
    const [first] = this.messages;
    this.messages = this.messages.filter((message) => message.type !== type);
    this.isOut &&= this.messages[0] === first;
    this.#next();
  }

  taken(id) {
    if (this.messages[0]?.id === id) this.on.taken(this.#drop());
  }

  refused({ id, message, wait }) {
    if (this.messages[0]?.id !== id) return;
    if (wait) this.waiting = setTimeout(() => this.again(), wait * 1000);
    else this.on.refused(message, this.#drop());
  }

  #drop() {
    const dropped = this.messages.shift();
    this.isOut = false;
    this.#next();
    return dropped;
  }

  #next() {
    if (!this.isOut) this.again();
    this.on.changed();
  }
}
