// The crowd-* elements, drawn with the browser's own controls; marketplace/questions/template.py names them. A
// crowd-form hands in all of its fields as one answer, `taskAnswers`, or with
// answer-format="flatten-objects" each under its name, a part of an object under both names with a dot
// between: the way the service did.
(() => {
  const LABELS = {
    "short-summary": () => say("Summary"),
    "detailed-instructions": () => say("Instructions"),
    "positive-example": () => say("Good example"),
    "negative-example": () => say("Bad example"),
  };
  const STYLE = `
    crowd-form { display: block; }
    crowd-form, crowd-instructions, crowd-modal dialog { font: 1rem/1.5 system-ui, sans-serif; }
    crowd-input, crowd-text-area, crowd-slider { display: block; margin: 0.75rem 0; max-width: 42rem; }
    crowd-input label, crowd-text-area label { display: block; font-weight: 600; margin-bottom: 0.25rem; }
    crowd-input input, crowd-text-area textarea { width: 100%; box-sizing: border-box; font: inherit; padding: 0.5rem; }
    crowd-radio-group { display: block; }
    crowd-radio-button, crowd-checkbox, crowd-toggle-button { display: block; margin: 0.375rem 0; }
    crowd-radio-button label, crowd-checkbox label, crowd-toggle-button label { display: inline-flex; gap: 0.5rem; align-items: baseline; }
    crowd-slider span { display: flex; gap: 0.75rem; align-items: center; }
    crowd-slider input { flex: 1; }
    crowd-button button { font: inherit; font-weight: 600; padding: 0.625rem 1.25rem; cursor: pointer; }
    crowd-card, crowd-alert, crowd-toast { display: block; border: 1px solid #8a938f; padding: 0.5rem 0.875rem; margin: 0.5rem 0; }
    crowd-card img { display: block; max-width: 100%; }
    crowd-alert { border-left-width: 0.375rem; }
    crowd-alert[type=success] { border-color: #1a7f4b; }
    crowd-alert[type=warning] { border-color: #9a6700; }
    crowd-alert button, crowd-modal button { font: inherit; }
    crowd-alert[type=error] { border-color: #b3261e; }
    crowd-toast:not([opened]), crowd-alert[hidden] { display: none; }
    crowd-badge { display: inline-block; font-size: 0.8125rem; font-weight: 600; background: #1f2a27; color: #fff; border-radius: 0.75rem; padding: 0 0.5rem; }
    crowd-tabs { display: block; }
    crowd-tabs > [role=tablist] { display: flex; flex-wrap: wrap; gap: 0.25rem; border-bottom: 1px solid #8a938f; }
    crowd-tabs [role=tab] { font: inherit; padding: 0.375rem 0.75rem; border: 1px solid #8a938f; border-bottom: 0; background: none; color: inherit; cursor: pointer; }
    crowd-tabs [role=tab][aria-selected=true] { font-weight: 600; background: #1f2a27; color: #fff; }
    crowd-tab { display: block; padding: 0.5rem 0; }
    crowd-tab[hidden] { display: none; }
    .crowd-tool { border: 0; margin: 0 0 1rem; padding: 0; min-width: 0; font: 1rem/1.5 system-ui, sans-serif; }
    .crowd-tool legend { font-size: 1.125rem; font-weight: 600; padding: 0; }
    .crowd-tool label { display: inline-flex; gap: 0.5rem; align-items: baseline; margin: 0.25rem 1rem 0.25rem 0; }
    .crowd-tool button { font: inherit; padding: 0.25rem 0.75rem; cursor: pointer; }
    .crowd-tool details { border: 1px solid #8a938f; padding: 0.5rem 0.875rem; margin: 0.5rem 0; }
    .crowd-tool summary { font-weight: 600; cursor: pointer; }
    .crowd-tool short-instructions, .crowd-tool full-instructions, .crowd-tool classification-target { display: block; }
    .crowd-tool classification-target { border-left: 3px solid #8a938f; padding-left: 0.875rem; margin: 0.75rem 0; max-width: 42rem; }
    .crowd-choices { list-style: none; margin: 0.5rem 0; padding: 0; }
    .crowd-tool img { display: block; max-width: 100%; max-height: 75vh; }
    .crowd-stage { position: relative; width: fit-content; max-width: 100%; margin-bottom: 0.5rem; cursor: crosshair; }
    .crowd-stage svg { position: absolute; inset: 0; width: 100%; height: 100%; touch-action: none; }
    .crowd-marks { padding: 0; list-style-position: inside; }
    .crowd-marks li { margin: 0.375rem 0; }
    .crowd-marks input { width: 5.5rem; font: inherit; }
    .crowd-marks select { font: inherit; }
    .crowd-marks label { flex-direction: row-reverse; margin-right: 0.75rem; }
    .crowd-text { white-space: pre-wrap; border: 1px solid #8a938f; padding: 0.75rem; line-height: 1.75; max-width: 42rem; }
    .crowd-text mark { background: #d7ecdf; color: #10201a; padding: 0.125rem 0; border-bottom: 2px solid; }
    .crowd-text mark::after { content: " " attr(data-label); font-size: 0.75rem; font-weight: 600; }
    .crowd-problem { color: #b3261e; font-weight: 600; position: relative; }
    .crowd-problem input { position: absolute; opacity: 0; }
    crowd-instructions details { border: 1px solid #8a938f; padding: 0.5rem 0.875rem; margin: 0.5rem 0; }
    crowd-instructions summary { font-weight: 600; cursor: pointer; }`;
  const query = new URLSearchParams(location.search);
  const assignmentId = query.get("assignmentId") || "";
  const isPreview = !assignmentId || assignmentId === "ASSIGNMENT_ID_NOT_AVAILABLE";
  let count = 0;

  // Our words in the worker's language come with the script at the end of the page.
  const say = (english) => {
    const found = document.getElementById("marketplace-words");
    return (found && JSON.parse(found.dataset.words)[english]) ?? english;
  };
  const make = (tag, values = {}) => Object.assign(document.createElement(tag), values);
  const text = (element, name) => element.getAttribute(name) || "";
  const isSet = (element, name) => element.hasAttribute(name) && text(element, name) !== "false";
  // Radio buttons and boxes, be there one or several of a name.
  const isChoice = (found) => ["radio", "checkbox"].includes((found?.length ? found[0] : found)?.type);
  const isPlainObject = (value) => value instanceof Object && !Array.isArray(value);
  const flatten = (data, path, value) => {
    if (isPlainObject(value)) {
      for (const [name, part] of Object.entries(value)) flatten(data, path ? `${path}.${name}` : name, part);
    } else {
      data.append(path, typeof value === "string" ? value : JSON.stringify(value));
    }
  };
  const identified = (element) => {
    element.id ||= `crowd-${++count}`;
    return element.id;
  };
  // Lists and objects stand in attributes the way scripts write them: ['a', 'b'], { text: 'None' }. An
  // apostrophe ends a string only where something can follow, so that 'It's so' is read as well.
  const LITERAL = /"(?:\\.|[^"\\])*"|'((?:\\.|[^'\\]|'(?!\s*(?:[,\]}:]|$)))*)'|([A-Za-z_$][\w$]*)(?=\s*:)|,(?=\s*[\]}])/g;
  const literal = (written, otherwise) => {
    const json = written.replace(LITERAL, (all, single, key) => {
      if (single !== undefined) return JSON.stringify(single.replace(/\\(.)/g, "$1"));
      return key === undefined ? all.replace(/^,$/, "") : JSON.stringify(key);
    });
    try {
      return JSON.parse(json) ?? otherwise;
    } catch {
      return otherwise;
    }
  };
  const listed = (element, name) => {
    const found = literal(text(element, name), []);
    return Array.isArray(found) ? found : [];
  };
  // A control and its words, in one label.
  const labelling = (control, words) => {
    const label = make("label");
    label.append(control, make("span", { textContent: words }));
    return label;
  };
  const pressed = (words, act) => {
    const button = make("button", { type: "button", textContent: words });
    button.addEventListener("click", act);
    return button;
  };
  const folded = (words, ...parts) => {
    const details = make("details");
    details.append(make("summary", { textContent: words }), ...parts);
    return details;
  };

  class Field extends HTMLElement {
    // Draws once, however often the element is moved.
    connectedCallback() {
      if (this.control) return;
      this.control = this.draw();
      this.control.dataset.crowd = "";
      this.control.disabled = isSet(this, "disabled");
      if (!this.closest("crowd-form")) this.closest("form")?.addEventListener("formdata", (event) => this.join(event.formData));
    }
    get name() { return text(this, "name"); }
    // In a form of the page's own each field hands itself in.
    join(data) {
      for (const control of this.querySelectorAll("[data-crowd][name]")) data.delete(control.name);
      if (!this.name || this.control.disabled) return;
      const { answer } = this;
      if (!isPlainObject(answer)) flatten(data, this.name, answer);
      else for (const [part, value] of Object.entries(answer)) flatten(data, `${this.name}.${part}`, value);
    }
    labelled(control) {
      const words = text(this, "label") || text(this, "placeholder") || this.name;
      this.prepend(make("label", { textContent: words, htmlFor: identified(control) }));
      this.append(control);
      return control;
    }
    limit(control) {
      control.required = isSet(this, "required");
      control.placeholder = text(this, "placeholder");
      control.value = text(this, "value") || text(this, "initial-value");
      if (text(this, "max-length")) control.maxLength = Number(text(this, "max-length"));
      if (text(this, "min-length")) control.minLength = Number(text(this, "min-length"));
      return control;
    }
    // What the form hands in under the field's name; objects of several fields of one name are joined.
    get answer() { return this.control.value; }
  }

  class CrowdInput extends Field {
    draw() {
      const control = this.limit(make("input", { type: text(this, "type") || "text" }));
      if (text(this, "allowed-pattern")) control.pattern = text(this, "allowed-pattern");
      if (text(this, "error-message")) control.title = text(this, "error-message");
      return this.labelled(control);
    }
  }

  class CrowdTextArea extends Field {
    draw() {
      return this.labelled(this.limit(make("textarea", { rows: Number(text(this, "rows")) || 4 })));
    }
  }

  class CrowdSlider extends Field {
    draw() {
      const control = make("input", { type: "range" });
      for (const name of ["min", "max", "step"]) {
        if (text(this, name)) control[name] = text(this, name);
      }
      control.value = text(this, "value") || text(this, "min") || "0";
      control.ariaLabel = text(this, "label") || this.name;
      const shown = make("output", { textContent: control.value });
      control.addEventListener("input", () => { shown.textContent = control.value; });
      const line = make("span");
      line.append(control, shown);
      this.append(line);
      return control;
    }
    get answer() { return Number(this.control.value); }
  }

  class Choice extends Field {
    around(control) {
      const label = make("label");
      const words = make("span");
      words.append(...this.childNodes);
      label.append(control, words);
      this.append(label);
      control.checked = isSet(this, "checked");
      return control;
    }
    get value() { return text(this, "value") || "on"; }
    get answer() { return { [this.value]: this.control.checked }; }
  }

  class CrowdCheckbox extends Choice {
    draw() {
      const control = this.around(make("input", { type: "checkbox" }));
      control.required = isSet(this, "required");
      return control;
    }
  }

  class CrowdToggleButton extends CrowdCheckbox {
    draw() {
      const control = super.draw();
      control.role = "switch";
      return control;
    }
  }

  class CrowdRadioButton extends Choice {
    draw() {
      const group = this.closest("crowd-radio-group");
      const name = group ? group.shared : `crowd-radio-${this.name}`;
      const control = this.around(make("input", { type: "radio", name }));
      control.required = group !== null && !isSet(group, "allow-empty-selection");
      return control;
    }
  }

  class CrowdRadioGroup extends HTMLElement {
    connectedCallback() {
      this.shared ||= `crowd-radio-${++count}`;
      this.role = "radiogroup";
      if (text(this, "label")) this.ariaLabel = text(this, "label");
    }
  }

  class CrowdButton extends HTMLElement {
    connectedCallback() {
      if (this.control) return;
      const type = { submit: "submit", reset: "reset" }[text(this, "form-action")] || "button";
      this.control = make("button", { type, disabled: isSet(this, "disabled") });
      this.control.append(...this.childNodes);
      if (!this.control.textContent.trim()) this.control.append(this.words);
      this.append(this.control);
    }
    // Icons are not drawn; what they stand for is said.
    get words() { return text(this, "label") || this.title || text(this, "icon") || say("Submit"); }
  }
  class CrowdIconButton extends CrowdButton {}
  class CrowdFab extends CrowdButton {}

  class CrowdInstructions extends HTMLElement {
    connectedCallback() {
      if (this.isDrawn) return;
      this.isDrawn = true;
      const details = folded(text(this, "link-text") || say("Instructions"));
      for (const part of [...this.children]) {
        const heading = LABELS[part.localName];
        if (heading) {
          details.append(make("h3", { textContent: heading() }));
          part.style.display = "block";
        }
        details.append(part);
      }
      this.append(details);
    }
  }

  class CrowdCard extends HTMLElement {
    connectedCallback() {
      if (this.isDrawn) return;
      this.isDrawn = true;
      const heading = text(this, "heading");
      if (heading) this.prepend(make("h3", { textContent: heading }));
      if (text(this, "image")) this.prepend(make("img", { src: text(this, "image"), alt: "" }));
    }
  }

  class CrowdAlert extends HTMLElement {
    connectedCallback() {
      if (this.isDrawn) return;
      this.isDrawn = true;
      this.role = text(this, "type") === "error" ? "alert" : "status";
      if (isSet(this, "dismissible")) this.append(" ", pressed(say("Dismiss"), () => { this.hidden = true; }));
    }
  }

  class CrowdToast extends HTMLElement {
    connectedCallback() {
      if (!this.role) this.append(text(this, "text"));
      this.role = "status";
    }
    show() { this.setAttribute("opened", ""); }
    hide() { this.removeAttribute("opened"); }
  }

  class CrowdBadge extends HTMLElement {
    connectedCallback() {
      if (this.isDrawn) return;
      this.isDrawn = true;
      this.prepend(text(this, "label") || text(this, "icon"));
      document.getElementById(text(this, "for"))?.append(this);
    }
  }

  class CrowdModal extends HTMLElement {
    connectedCallback() {
      if (this.dialog) return;
      this.dialog = make("dialog");
      this.dialog.append(...this.childNodes, pressed(say("Close"), () => this.close()));
      if (text(this, "link-text")) this.append(pressed(text(this, "link-text"), () => this.open()));
      this.append(this.dialog);
      if (isSet(this, "opened")) this.open();
    }
    open() { if (!this.dialog.open) this.dialog.showModal(); }
    close() { this.dialog.close(); }
  }

  class CrowdTabs extends HTMLElement {
    connectedCallback() {
      if (this.isDrawn) return;
      this.isDrawn = true;
      const panels = [...this.children].filter((part) => part.localName === "crowd-tab");
      const tabs = panels.map((panel, at) => {
        panel.role = "tabpanel";
        const tab = pressed(text(panel, "header") || String(at + 1), () => this.choose(at));
        tab.role = "tab";
        tab.setAttribute("aria-controls", identified(panel));
        panel.setAttribute("aria-labelledby", identified(tab));
        return tab;
      });
      // The first field that keeps the form from being sent has to be seen.
      const first = () => panels.findIndex((panel) => panel.querySelector(":invalid"));
      this.addEventListener("invalid", () => this.choose(Math.max(0, first())), true);
      const bar = make("div", { role: "tablist" });
      bar.append(...tabs);
      bar.addEventListener("keydown", (event) => {
        const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        if (!step) return;
        event.preventDefault();
        const at = (tabs.indexOf(document.activeElement) + step + tabs.length) % tabs.length;
        this.choose(at);
        tabs[at].focus();
      });
      this.prepend(bar);
      this.choose = (chosen) => tabs.forEach((tab, at) => {
        tab.ariaSelected = String(at === chosen);
        tab.tabIndex = at === chosen ? 0 : -1;
        panels[at].hidden = at !== chosen;
      });
      this.choose(0);
    }
  }

  // A whole task in one element: what is asked, its object, the instructions and the way to answer.
  class Tool extends Field {
    connectedCallback() {
      if (this.control || this.closest("form, crowd-form")) {
        super.connectedCallback();
        return;
      }
      // It may stand alone, with a form and a button of its own.
      const form = make("crowd-form");
      this.replaceWith(form);
      form.form.prepend(this);
    }
    get name() { return super.name || this.localName; }
    // Pages check these before they hand in.
    get value() { return this.answer; }
    get _submittableValue() { return this.answer; }
    arranged(...parts) {
      const box = make("fieldset", { className: "crowd-tool" });
      const full = [...this.children].filter((part) => part.localName === "full-instructions");
      full.forEach((part) => part.remove());
      box.append(make("legend", { textContent: text(this, "header") || this.name }), ...this.childNodes, ...parts);
      box.append(...full.map((part) => folded(text(part, "header") || say("Instructions"), part)));
      this.append(box);
      return box;
    }
    // One of a list, by radio buttons; the first unless told otherwise.
    picker(words, values) {
      this.shared ||= `crowd-tool-${++count}`;
      const box = make("div", { role: "radiogroup", ariaLabel: say("Label") });
      box.append(...values.map((value, at) => {
        const radio = make("input", { type: "radio", name: this.shared, value, checked: at === 0 });
        radio.dataset.crowd = "";
        return labelling(radio, words[at]);
      }));
      return box;
    }
    get picked() { return this.querySelector(`input[name="${this.shared}"]:checked`)?.value ?? ""; }
    // What cannot be drawn is not handed in as if it had been answered.
    refusing(sentence) {
      const problem = make("p", { className: "crowd-problem", role: "alert", textContent: sentence });
      const gate = make("input", { type: "checkbox", ariaLabel: sentence });
      gate.setCustomValidity(sentence);
      gate.dataset.crowd = "";
      problem.prepend(gate);
      return problem;
    }
    undrawn() {
      return this.refusing(say("This part of the page cannot be drawn. Return the HIT and tell its requester."));
    }
  }

  class CrowdClassifier extends Tool {
    draw() {
      const categories = listed(this, "categories").map(String);
      const excluded = literal(text(this, "exclusion-category"), {}).text;
      if (!categories.length) return this.arranged(this.undrawn());
      this.shared = `crowd-tool-${++count}`;
      this.boxes = [...categories, ...(this.isSeveral && excluded ? [excluded] : [])].map((value) => {
        const box = make("input", { type: this.isSeveral ? "checkbox" : "radio", name: this.shared, value });
        box.required = !this.isSeveral;
        box.dataset.crowd = "";
        return box;
      });
      const choices = make("ul", { className: "crowd-choices" });
      choices.append(...this.boxes.map((box) => {
        const line = make("li");
        line.append(labelling(box, box.value));
        return line;
      }));
      if (this.isSeveral) choices.addEventListener("change", (event) => this.settle(event.target, excluded));
      if (this.isSeveral) this.settle();
      return this.arranged(...this.object(), choices);
    }
    object() {
      if (!this.hasAttribute("src")) return [];
      return [make("img", { src: text(this, "src"), alt: say("Image") })];
    }
    // "None of them" and one of them exclude each other; something has to be chosen.
    settle(changed, excluded) {
      if (changed?.checked) {
        for (const box of this.boxes) {
          if (excluded && (box.value === excluded) !== (changed.value === excluded)) box.checked = false;
        }
      }
      this.boxes[0].setCustomValidity(this.answer.labels.length ? "" : say("Choose at least one."));
    }
    get answer() { return { label: this.boxes?.find((box) => box.checked)?.value ?? "" }; }
  }
  class CrowdImageClassifier extends CrowdClassifier {}
  class CrowdClassifierMultiSelect extends CrowdClassifier {
    get isSeveral() { return true; }
    get answer() { return { labels: (this.boxes ?? []).filter((box) => box.checked).map((box) => box.value) }; }
  }
  class CrowdImageClassifierMultiSelect extends CrowdClassifierMultiSelect {}

  // A tool that marks something any number of times; that there is nothing to mark is said, not guessed.
  class MarkingTool extends Tool {
    marking(hint, ...parts) {
      this.rows = make("ol", { className: "crowd-marks" });
      this.nothing = make("input", { type: "checkbox" });
      this.nothing.dataset.crowd = "";
      this.nothing.addEventListener("change", () => this.settle());
      return this.arranged(
        make("p", { textContent: hint }), ...parts, this.rows,
        labelling(this.nothing, say("There is nothing to mark.")),
      );
    }
    removing(mark) {
      return pressed(say("Remove"), () => {
        const at = this.marks.indexOf(mark);
        this.marks.splice(at, 1);
        this.show();
        (this.rows.querySelectorAll("li")[Math.max(0, at - 1)]?.querySelector("button") ?? this.nothing).focus();
      });
    }
    settle() {
      const isMissing = !this.marks.length && !this.nothing.checked;
      this.nothing.setCustomValidity(isMissing ? say("Mark something, or tick that there is nothing to mark.") : "");
    }
  }

  class CrowdEntityAnnotation extends MarkingTool {
    draw() {
      const labels = listed(this, "labels").filter((one) => one.label);
      if (!labels.length || !text(this, "text")) return this.arranged(this.undrawn());
      // Offsets count characters, as other languages do, not the halves of which some are made here.
      this.letters = [...text(this, "text")];
      this.marks = listed(this, "initial-value").filter((one) => one.startOffset < one.endOffset);
      this.names = new Map(labels.map((one) => [one.label, one.shortDisplayName || one.label]));
      this.words = [...text(this, "text").matchAll(/[\p{L}\p{N}]+(?:['’.\-][\p{L}\p{N}]+)*|\S/gu)].map(({ 0: word, index }) => {
        const start = [...text(this, "text").slice(0, index)].length;
        return [start, start + [...word].length];
      });
      this.first = this.last = -1;
      this.board = make("div", { className: "crowd-text", tabIndex: 0, role: "group", ariaLabel: say("Text") });
      this.told = make("p", { role: "status" });
      this.board.addEventListener("keydown", (event) => this.press(event));
      this.board.addEventListener("pointerup", () => setTimeout(() => this.mark(this.selected())));
      const hint = say("Choose a label, then mark the words it applies to: with the pointer, or with the arrow keys, Shift for several, and Enter.");
      const picker = this.picker(labels.map((one) => one.fullDisplayName || one.label), labels.map((one) => one.label));
      const box = this.marking(hint, picker, this.board, this.told);
      this.show();
      return box;
    }
    press(event) {
      const step = { ArrowRight: 1, ArrowLeft: -1, Enter: 0 }[event.key];
      if (step === undefined) return;
      event.preventDefault();
      if (step === 0) {
        this.mark(this.selected());
        return;
      }
      this.last = Math.min(this.words.length - 1, Math.max(0, this.last + step));
      if (!event.shiftKey || this.first < 0) this.first = this.last;
      const [start, end] = [Math.min(this.first, this.last), Math.max(this.first, this.last)];
      this.select(this.words[start][0], this.words[end][1]);
      this.told.textContent = this.letters.slice(this.words[start][0], this.words[end][1]).join("");
    }
    // Where an offset is among the text nodes.
    place(offset) {
      const walker = document.createTreeWalker(this.board, NodeFilter.SHOW_TEXT);
      for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        const letters = [...node.data];
        if (offset <= letters.length) return [node, letters.slice(0, offset).join("").length];
        offset -= letters.length;
      }
      return [this.board, this.board.childNodes.length];
    }
    select(start, end) {
      window.getSelection().setBaseAndExtent(...this.place(start), ...this.place(end));
    }
    selected() {
      const selection = window.getSelection();
      const range = selection.rangeCount ? selection.getRangeAt(0) : null;
      if (!range || range.collapsed || !this.board.contains(range.commonAncestorContainer)) return null;
      const before = document.createRange();
      before.setStart(this.board, 0);
      before.setEnd(range.startContainer, range.startOffset);
      const start = [...before.toString()].length;
      const chosen = range.toString();
      const lead = [...chosen].length - [...chosen.trimStart()].length;
      return chosen.trim() ? [start + lead, start + lead + [...chosen.trim()].length] : null;
    }
    mark(span) {
      if (!span) return;
      const [startOffset, endOffset] = span;
      // A new mark takes the place of those it covers.
      this.marks = this.marks.filter((one) => one.endOffset <= startOffset || one.startOffset >= endOffset);
      this.marks.push({ label: this.picked, startOffset, endOffset });
      this.nothing.checked = false;
      window.getSelection().removeAllRanges();
      this.show();
      this.told.textContent = `${this.names.get(this.picked)}: ${this.covered(this.marks.at(-1))}`;
    }
    covered(mark) { return this.letters.slice(mark.startOffset, mark.endOffset).join(""); }
    show() {
      this.marks.sort((one, other) => one.startOffset - other.startOffset);
      let at = 0;
      const parts = [];
      for (const one of this.marks) {
        const shown = make("mark", { textContent: this.covered(one) });
        shown.dataset.label = this.names.get(one.label) ?? one.label;
        parts.push(this.letters.slice(at, one.startOffset).join(""), shown);
        at = one.endOffset;
      }
      this.board.replaceChildren(...parts, this.letters.slice(at).join(""));
      this.rows.replaceChildren(...this.marks.map((one) => {
        const row = make("li");
        row.append(`${this.names.get(one.label) ?? one.label}: ${this.covered(one)} `, this.removing(one));
        return row;
      }));
      this.settle();
    }
    get answer() {
      const entities = (this.marks ?? []).map(({ endOffset, label, startOffset }) => ({ endOffset, label, startOffset }));
      return { entities };
    }
  }

  const NUMBERS = { left: () => say("Left"), top: () => say("Top"), width: () => say("Width"), height: () => say("Height") };
  const COLOURS = ["#b3261e", "#0b57d0", "#1a7f4b", "#7b3fa0", "#9a6700", "#006a6a"];
  const svg = (tag, values) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(values)) element.setAttribute(name, value);
    return element;
  };

  // Shapes on an image, by pointer or by number; what is handed in is in pixels of the image itself.
  class ImageTool extends MarkingTool {
    draw() {
      this.labels = listed(this, "labels").map(String);
      this.marks = listed(this, "initial-value");
      if (!this.labels.length || !text(this, "src")) return this.arranged(this.undrawn());
      this.image = make("img", { alt: say("Image"), draggable: false });
      this.shapes = svg("svg", { "aria-hidden": "true" });
      const stage = make("div", { className: "crowd-stage" });
      stage.append(this.image, this.shapes);
      this.adder = pressed(this.words.add, () => this.add(this.middle()));
      this.listen(stage);
      const box = this.marking(this.words.hint, this.picker(this.labels, this.labels), stage, this.adder);
      this.image.addEventListener("load", () => this.show());
      this.image.addEventListener("error", () => box.append(this.undrawn()));
      this.image.src = text(this, "src");
      this.show();
      return box;
    }
    get size() { return { height: this.image?.naturalHeight ?? 0, width: this.image?.naturalWidth ?? 0 }; }
    at(event) {
      const { left, top, width, height } = this.shapes.getBoundingClientRect();
      const within = (part, most) => Math.round(Math.min(1, Math.max(0, part)) * most);
      return { x: within((event.clientX - left) / width, this.size.width), y: within((event.clientY - top) / height, this.size.height) };
    }
    listen(stage) {
      stage.addEventListener("click", (event) => this.add(this.at(event), false));
    }
    add(mark, isFocused = true) {
      if (!this.size.width) return;
      this.marks.push({ label: this.picked, ...mark });
      this.nothing.checked = false;
      this.show();
      if (isFocused) this.rows.lastElementChild.querySelector("input").focus();
    }
    share(part) { return { x: Math.round(this.size.width * part), y: Math.round(this.size.height * part) }; }
    show() {
      this.rows.replaceChildren(...this.marks.map((mark) => this.row(mark)));
      this.paint();
      this.settle();
    }
    row(mark) {
      const row = make("li");
      const label = make("select", { ariaLabel: say("Label") });
      label.append(...this.labels.map((one) => new Option(one, one, one === mark.label, one === mark.label)));
      label.addEventListener("change", () => { mark.label = label.value; this.paint(); });
      row.append(label, " ");
      for (const [point, name] of this.numbers(mark)) {
        const field = make("input", { type: "number", min: 0, step: "any", required: true, value: point[name] });
        field.addEventListener("input", () => { point[name] = Number(field.value); this.paint(); });
        row.append(labelling(field, NUMBERS[name]?.() ?? name));
      }
      row.append(...this.buttons(mark), this.removing(mark));
      return row;
    }
    buttons() { return []; }
    paint() {
      const { width, height } = this.size;
      this.shapes.setAttribute("viewBox", `0 0 ${width || 1} ${height || 1}`);
      this.shapes.replaceChildren(...[...this.marks, ...(this.pending ? [this.pending] : [])].flatMap((mark) => {
        const colour = COLOURS[Math.max(0, this.labels.indexOf(mark.label)) % COLOURS.length];
        const [tag, values, where] = this.shape(mark);
        const drawn = svg(tag, { ...values, fill: tag === "polyline" ? "none" : `${colour}33`, stroke: colour, "stroke-width": 2, "vector-effect": "non-scaling-stroke" });
        const words = svg("text", { x: where.x, y: where.y, fill: colour, "font-size": Math.max(width, height) / 28, "paint-order": "stroke", stroke: "#fff", "stroke-width": Math.max(width, height) / 200 });
        words.textContent = mark.label;
        return [drawn, words];
      }));
    }
    get answer() {
      return this.image ? { ...this.found(), inputImageProperties: this.size } : {};
    }
  }

  class CrowdBoundingBox extends ImageTool {
    get words() { return { add: say("Add a box"), hint: say("Choose a label, then drag a box over the image, or add one and write its numbers.") }; }
    listen(stage) {
      stage.addEventListener("pointerdown", (event) => {
        this.from = this.at(event);
        this.shapes.setPointerCapture(event.pointerId);
      });
      stage.addEventListener("pointermove", (event) => {
        if (!this.from) return;
        this.pending = { label: this.picked, ...this.between(this.from, this.at(event)) };
        this.paint();
      });
      stage.addEventListener("pointerup", (event) => {
        const box = this.from && this.between(this.from, this.at(event));
        this.from = this.pending = null;
        // A click is no box.
        if (box?.width && box.height) this.add(box, false);
        else this.paint();
      });
      stage.addEventListener("pointercancel", () => { this.from = this.pending = null; this.paint(); });
    }
    between(one, other) {
      return {
        height: Math.abs(one.y - other.y), width: Math.abs(one.x - other.x),
        left: Math.min(one.x, other.x), top: Math.min(one.y, other.y),
      };
    }
    middle() { return this.between(this.share(0.25), this.share(0.75)); }
    numbers(mark) { return ["left", "top", "width", "height"].map((name) => [mark, name]); }
    shape({ left, top, width, height }) { return ["rect", { x: left, y: top, width, height }, { x: left, y: top }]; }
    found() {
      return { boundingBoxes: this.marks.map(({ height, label, left, top, width }) => ({ height, label, left, top, width })) };
    }
  }

  class CrowdKeypoint extends ImageTool {
    get words() { return { add: say("Add a point"), hint: say("Choose a label, then click the image where it belongs, or add a point and write its numbers.") }; }
    middle() { return this.share(0.5); }
    numbers(mark) { return ["x", "y"].map((name) => [mark, name]); }
    shape({ x, y }) { return ["circle", { cx: x, cy: y, r: Math.max(this.size.width, this.size.height) / 120 }, { x, y }]; }
    found() { return { keypoints: this.marks.map(({ label, x, y }) => ({ label, x, y })) }; }
  }

  // Corners one after the other; a new shape begins when the one before is finished.
  class CrowdPolygon extends ImageTool {
    get words() { return { add: say("Add a shape"), hint: say("Choose a label, then click the corners one after the other and finish the shape, or add one and write its numbers.") }; }
    get tag() { return "polygon"; }
    get least() { return 3; }
    listen(stage) {
      stage.addEventListener("click", (event) => {
        if (this.marks.includes(this.open)) {
          this.open.vertices.push(this.at(event));
          this.show();
        } else {
          this.add({ vertices: [this.at(event)] }, false);
          this.open = this.marks.at(-1);
          this.show();
        }
      });
    }
    middle() {
      this.open = null;
      const [near, far] = [this.share(0.25), this.share(0.75)];
      return { vertices: [near, { x: far.x, y: near.y }, far].slice(0, this.least) };
    }
    numbers(mark) { return mark.vertices.flatMap((point) => [[point, "x"], [point, "y"]]); }
    row(mark) {
      const row = super.row(mark);
      const isShort = mark.vertices.length < this.least;
      row.querySelector("input").setCustomValidity(isShort ? say("A shape needs more corners.") : "");
      return row;
    }
    buttons(mark) {
      const more = pressed(say("Add a corner"), () => {
        mark.vertices.push(this.share(0.5));
        this.show();
        this.rows.children[this.marks.indexOf(mark)].querySelector("label:nth-last-of-type(2) input").focus();
      });
      if (mark !== this.open) return [more, " "];
      const finish = pressed(say("Finish the shape"), () => { this.open = null; this.show(); this.adder.focus(); });
      return [more, " ", finish, " "];
    }
    shape({ vertices }) {
      return [this.tag, { points: vertices.map(({ x, y }) => `${x},${y}`).join(" ") }, vertices[0]];
    }
    found() {
      return { [`${this.tag}s`]: this.marks.map(({ label, vertices }) => ({ label, vertices: vertices.map(({ x, y }) => ({ x, y })) })) };
    }
  }
  class CrowdPolyline extends CrowdPolygon {
    get tag() { return "polyline"; }
    get least() { return 2; }
  }

  class CrowdForm extends HTMLElement {
    connectedCallback() {
      if (this.form) return;
      this.form = make("form", { method: "post", action: `${query.get("turkSubmitTo") || ""}/mturk/externalSubmit` });
      this.form.append(...this.childNodes);
      this.append(this.form);
      if (!this.form.querySelector("crowd-button[form-action=submit], button:not([type=button]), input[type=submit]")) {
        const button = make("crowd-button", { textContent: say("Submit") });
        button.setAttribute("form-action", "submit");
        this.form.append(button);
      }
      this.form.addEventListener("submit", (event) => { if (isPreview) event.preventDefault(); });
      this.form.addEventListener("formdata", (event) => this.collect(event.formData));
    }
    collect(data) {
      const answers = {};
      const join = (name, part) => { answers[name] = { ...Object(answers[name]), ...part }; };
      for (const [name, value] of [...data]) {
        if (typeof value === "string" && !isChoice(this.form.elements.namedItem(name))) {
          answers[name] = name in answers ? [answers[name], value].flat() : value;
        }
        data.delete(name);
      }
      delete answers.assignmentId;
      for (const control of this.form.elements) {
        const isOwn = "crowd" in control.dataset || !control.name || control.matches(":disabled");
        if (!isOwn && isChoice(control)) join(control.name, { [control.value]: control.checked });
      }
      for (const field of this.form.querySelectorAll("*")) {
        if (!(field instanceof Field) || !field.name || field.control.disabled) continue;
        const { answer } = field;
        if (isPlainObject(answer)) join(field.name, answer);
        else answers[field.name] = answer;
      }
      if (text(this, "answer-format") === "flatten-objects") flatten(data, "", answers);
      else data.append("taskAnswers", JSON.stringify([answers]));
      data.append("assignmentId", assignmentId);
    }
  }

  const begin = () => {
    document.head.append(make("style", { textContent: STYLE }));
    // The form first, so that fields are drawn where they stay.
    for (const [name, kind] of Object.entries({
      "crowd-form": CrowdForm,
      "crowd-radio-group": CrowdRadioGroup,
      "crowd-radio-button": CrowdRadioButton,
      "crowd-input": CrowdInput,
      "crowd-text-area": CrowdTextArea,
      "crowd-checkbox": CrowdCheckbox,
      "crowd-slider": CrowdSlider,
      "crowd-button": CrowdButton,
      "crowd-instructions": CrowdInstructions,
      "crowd-toggle-button": CrowdToggleButton,
      "crowd-icon-button": CrowdIconButton,
      "crowd-fab": CrowdFab,
      "crowd-card": CrowdCard,
      "crowd-tabs": CrowdTabs,
      "crowd-alert": CrowdAlert,
      "crowd-toast": CrowdToast,
      "crowd-badge": CrowdBadge,
      "crowd-modal": CrowdModal,
      "crowd-classifier": CrowdClassifier,
      "crowd-classifier-multi-select": CrowdClassifierMultiSelect,
      "crowd-image-classifier": CrowdImageClassifier,
      "crowd-image-classifier-multi-select": CrowdImageClassifierMultiSelect,
      "crowd-entity-annotation": CrowdEntityAnnotation,
      "crowd-bounding-box": CrowdBoundingBox,
      "crowd-keypoint": CrowdKeypoint,
      "crowd-polygon": CrowdPolygon,
      "crowd-polyline": CrowdPolyline,
    })) {
      if (!customElements.get(name)) customElements.define(name, kind);
    }
  };
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", begin);
  else begin();
})();
