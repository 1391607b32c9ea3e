/* Sends documents with their paths in a folder, and shows how much has been sent. */

class Upload {
  constructor(form) {
    this.form = form;
    this.inputs = [...form.querySelectorAll('input[type="file"]')];
    this.chosen = form.querySelector("[data-chosen]");
    this.sending = form.querySelector("[data-sending]");
    for (const input of this.inputs) input.addEventListener("change", () => this.count());
    form.addEventListener("submit", (event) => this.send(event));
  }

  files() {
    return this.inputs.flatMap((input) => [...input.files]);
  }

  /* What was chosen stays chosen. */
  choose(kept) {
    this.inputs.forEach((input, number) => { input.files = kept[number]; });
    this.count();
  }

  count() {
    const files = this.files();
    const size = files.reduce((sum, file) => sum + file.size, 0) / 1e6;
    const told = size < 0.95 ? `${Math.ceil(size * 1e3)} KB` : `${size.toFixed(1)} MB`;
    const wording = files.length === 1 ? "1 file" : `${files.length} files`;
    this.chosen.hidden = files.length === 0;
    this.chosen.textContent = `${wording}, ${told}${size > 100 ? ": too much at once. Send it in parts, or use the command." : ""}`;
  }

  /* A folder's own name is no part of a document's id. */
  static path(file) {
    return file.webkitRelativePath ? file.webkitRelativePath.split("/").slice(1).join("/") : file.name;
  }

  send(event) {
    if (!this.files().length) return;
    event.preventDefault();
    const body = new FormData(this.form);
    for (const file of this.files()) body.append("path", Upload.path(file));
    const request = new XMLHttpRequest();
    request.upload.addEventListener("progress", (sent) => this.show(sent.loaded, sent.total));
    request.addEventListener("load", () => this.end(request));
    request.addEventListener("error", () => this.tell("The connection broke. Send it again."));
    request.open("POST", this.form.action);
    request.send(body);
    this.form.querySelector("button").disabled = true;
    this.sending.hidden = false;
  }

  show(loaded, total) {
    this.sending.querySelector("progress").value = loaded / total;
    this.tell(`Sending: ${Math.round((loaded / total) * 100)} %`, true);
  }

  tell(words, goesOn = false) {
    this.sending.querySelector("span").textContent = words;
    this.form.querySelector("button").disabled = goesOn;
  }

  end(request) {
    if (request.status === 200 && request.responseURL !== location.href) {
      location.assign(request.responseURL);
    } else if (request.status === 400) {
      const page = new DOMParser().parseFromString(request.responseText, "text/html");
      const kept = this.inputs.map((input) => input.files);
      document.querySelector("main").replaceWith(page.querySelector("main"));
      for (const form of document.querySelectorAll("[data-upload]")) new Upload(form).choose(kept);
      document.querySelector("main").focus();
    } else {
      this.tell(request.status === 413 ? "That is more than 100 MB at once. Send it in parts." : "It was not taken. Send it again.");
    }
  }
}

for (const form of document.querySelectorAll("[data-upload]")) new Upload(form);
