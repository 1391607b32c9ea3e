// Sends the forms of a requester's own page where the worker's answer belongs.
(() => {
  const asked = new URLSearchParams(window.location.search);
  const assignmentId = asked.get("assignmentId") || "";
  const submitTo = (asked.get("turkSubmitTo") || "").replace(/\/$/, "");
  const isPreview = !submitTo;
  const words = JSON.parse(document.currentScript.dataset.words);
  const say = (english) => words[english] ?? english;
  const ending = /\/mturk\/externalSubmit\/?$/;

  function isOurs(form) {
    const action = (form.getAttribute("action") || "").split("?")[0];
    return action === "" || ending.test(action);
  }

  function prepare(form) {
    if (!isOurs(form)) return;
    form.method = "post";
    form.removeAttribute("target");
    // A field called "action" would hide the property, so the attribute is written.
    form.setAttribute("action", isPreview ? "#" : `${submitTo}/mturk/externalSubmit`);
    let field = form.querySelector('input[name="assignmentId"]');
    if (!field) {
      field = document.createElement("input");
      field.type = "hidden";
      field.name = "assignmentId";
      form.append(field);
    }
    field.value = assignmentId;
  }

  function lock(form) {
    for (const button of form.querySelectorAll('button:not([type="button"]), [type="submit"]')) {
      button.disabled = true;
      button.title = say("Accept the HIT to work on it.");
    }
  }

  function prepareAll() {
    for (const form of document.forms) {
      const isOurOwn = isOurs(form);  // before its address is changed
      prepare(form);
      if (isPreview && isOurOwn) lock(form);
    }
  }

  const submitAsIs = HTMLFormElement.prototype.submit;
  HTMLFormElement.prototype.submit = function submit() {
    prepare(this);
    if (!isPreview || !isOurs(this)) submitAsIs.call(this);
  };
  document.addEventListener(
    "submit",
    (event) => {
      prepare(event.target);
      if (isPreview && event.target.getAttribute("action") === "#") event.preventDefault();
    },
    true,
  );
  prepareAll();
  document.addEventListener("DOMContentLoaded", prepareAll);
})();
