/** The one message that was sent and not yet taken: it goes out again, under the same id. */

export class Outbox {
  /** on: {busy(type | null), refused(sentence, message), taken(message)}. */
  constructor({ line, on }) {
    Object.assign(this, { line, on });
    this.message = null;
  }

  /** Send a message, unless another is on its way; it is kept until the server has it.
      A page that is loaded again need not know of it: what was taken is in the state, the rest in the draft. */
  send(message) {
    if (this.message) return;
    this.message = { ...message, id: uuid() };
    this.on.busy(message.type);
    this.again();
  }

  /** Send what is pending: at first, and after every new connection. */
  again() {
    clearTimeout(this.waiting);
    if (this.message) this.line.send(this.message);
  }

  taken(id) {
    if (this.message?.id === id) this.on.taken(this.#drop());
  }

  refused({ id, message, wait }) {
    if (this.message?.id !== id) return;
    if (wait) this.waiting = setTimeout(() => this.again(), wait * 1000);
    else this.on.refused(message, this.#drop());
  }

  #drop() {
    const { message } = this;
    this.message = null;
    this.on.busy(null);
    return message;
  }
}

/** crypto.randomUUID is missing where a page came over plain http. */
function uuid() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}
