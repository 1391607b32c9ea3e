/** A worked sample: one attempt at a time, and its marks as far as the step that is clicked. */

const root = document.querySelector("[data-sample]");
const choices = [...root.querySelectorAll("[data-attempt-of]")];
const attempts = [...root.querySelectorAll("[data-attempt]")];

function choose(index) {
  attempts.forEach((attempt, at) => { attempt.hidden = at !== index; });
  choices.forEach((button, at) => button.setAttribute("aria-pressed", String(at === index)));
}

/** Show what has been done after a step, counted from 1. */
function show(attempt, step) {
  for (const mark of attempt.querySelectorAll("[data-step]")) {
    mark.classList.toggle("not-yet", Number(mark.dataset.step) > step);
    mark.classList.toggle("just-now", Number(mark.dataset.step) === step);
  }
  const buttons = attempt.querySelectorAll("[data-show-step]");
  for (const button of buttons) {
    const at = Number(button.dataset.showStep);
    button.parentElement.toggleAttribute("data-done", at <= step);
    button.setAttribute("aria-pressed", String(at === step));
  }
  attempt.querySelector(".attempt-why").toggleAttribute("data-vacant", step < buttons.length);
}

root.querySelector("[data-sample-choice]").hidden = false;
choices.forEach((button, index) => button.addEventListener("click", () => choose(index)));
for (const attempt of attempts) {
  attempt.querySelector(".attempt-title").classList.add("unseen");
  attempt.addEventListener("click", ({ target }) => {
    const step = target.closest("[data-show-step]")?.dataset.showStep ?? target.closest("[data-step]")?.dataset.step;
    if (step) show(attempt, Number(step));
  });
}
choose(0);
