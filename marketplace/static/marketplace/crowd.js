// The usual crowd-* elements, drawn with the browser's own controls. A crowd-form hands in all of its
// fields as one answer, `taskAnswers`, or with answer-format="flatten-objects" each under its name, a
// part of an object under both names with a dot between: the way the service did.
(() => {
  const LABELS = {
    "short-summary": () => say("Summary"),
    "detailed-instructions": () => say("Instructions"),
    "positive-example": () => say("Good example"),
    "negative-example": () => say("Bad example"),
  };
  const STYLE = `
    crowd-form { display: block; }
    crowd-form, crowd-instructions { font: 1rem/1.5 system-ui, sans-serif; }
    crowd-input, crowd-text-area, crowd-slider { display: block; margin: 0.75rem 0; max-width: 42rem; }
    crowd-input label, crowd-text-area label { display: block; font-weight: 600; margin-bottom: 0.25rem; }
    crowd-input input, crowd-text-area textarea { width: 100%; box-sizing: border-box; font: inherit; padding: 0.5rem; }
    crowd-radio-group { display: block; }
    crowd-radio-button, crowd-checkbox { display: block; margin: 0.375rem 0; }
    crowd-radio-button label, crowd-checkbox label { display: inline-flex; gap: 0.5rem; align-items: baseline; }
    crowd-slider span { display: flex; gap: 0.75rem; align-items: center; }
    crowd-slider input { flex: 1; }
    crowd-button button { font: inherit; font-weight: 600; padding: 0.625rem 1.25rem; cursor: pointer; }
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

  class Field extends HTMLElement {
    // Draws once, however often the element is moved.
    connectedCallback() {
      if (this.control) return;
      this.control = this.draw();
      this.control.dataset.crowd = "";
      this.control.disabled = isSet(this, "disabled");
    }
    get name() { return text(this, "name"); }
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
      this.append(this.control);
    }
  }

  class CrowdInstructions extends HTMLElement {
    connectedCallback() {
      if (this.isDrawn) return;
      this.isDrawn = true;
      const details = make("details");
      details.append(make("summary", { textContent: text(this, "link-text") || say("Instructions") }));
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

  class CrowdForm extends HTMLElement {
    connectedCallback() {
      if (this.form) return;
      this.form = make("form", { method: "post", action: `${query.get("turkSubmitTo") || ""}/mturk/externalSubmit` });
      this.form.append(...this.childNodes);
      this.append(this.form);
      if (!this.form.querySelector("crowd-button[form-action=submit], button, input[type=submit]")) {
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
    })) {
      if (!customElements.get(name)) customElements.define(name, kind);
    }
  };
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", begin);
  else begin();
})();
