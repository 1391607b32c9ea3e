/** Hands the work in: once, whatever the finger or the network does. */

const tries = 4;

export class Submission {
  /** collect() returns {data, refs}; on: {busy(bool), problems(list, refs), done(), message(sentence)}. */
  constructor({ api, draft, collect, on }) {
    Object.assign(this, { api, draft, collect, on });
    this.busy = false;
  }

  async press() {
    if (this.busy) return;
    this.busy = true;
    this.on.busy(true);
    await this.draft.hold();
    const { data, refs } = this.collect();
    const answer = await this.#send(data);
    const left = answer ? this.#answered(answer, refs) : false;
    if (!left) {
      this.draft.release();
      this.busy = false;
      this.on.busy(false);
    }
  }

  async #send(data) {
    for (let attempt = 1; attempt <= tries; attempt += 1) {
      try {
        const answer = await this.api.post("submit", { data });
        if (answer.status < 500) return answer;
      } catch {
        // No answer: the same submission may be sent again, the server counts it once.
      }
      if (attempt === tries) break;
      this.on.message(`The server does not answer. Trying again (${attempt} of ${tries - 1})…`);
      await new Promise((resolve) => setTimeout(resolve, 1000 * 2 ** (attempt - 1)));
    }
    this.on.message("Not submitted: the server could not be reached. Nothing is lost. Check your connection and press Submit again.");
    return null;
  }

  /** True when the page is on its way out. */
  #answered({ status, body }, refs) {
    if (body.form) {
      this.draft.stop();
      this.on.done();
      post(body.form);
      return true;
    }
    if (status === 422 || body.problems) this.on.problems(body.problems ?? [], refs);
    else this.on.message(body.message ?? "Not submitted: the server refused it without a reason. Nothing is lost; press Submit again.");
    return false;
  }
}

/** Submit a plain form in this frame: {action, fields: {name: value}}. The page around looks out for the answer. */
function post({ action, fields }) {
  window.parent.postMessage({ collector: "handing-in" }, "*");
  const form = document.createElement("form");
  form.method = "post";
  form.action = action;
  form.hidden = true;
  for (const [name, value] of Object.entries(fields)) {
    const input = document.createElement("input");
    input.type = "hidden";
    input.name = name;
    input.value = value;
    form.append(input);
  }
  document.body.append(form);
  form.submit();
}
