// Runs the bar around a task's frame: countdown, return, and what happens after submitting.
const frame = document.getElementById("task");
const countdown = document.getElementById("countdown");
const said = document.getElementById("countdown-said");
const dialog = document.getElementById("return-dialog");
const returnLink = document.getElementById("return-link");
const preference = document.getElementById("next-preference");

const LOUD_SECONDS = 600;
const SPOKEN_MINUTES = [10, 5, 1];

// The server's clock decides; this computer's may be wrong.
const skewSeconds = countdown ? Number(countdown.dataset.now) - Date.now() / 1000 : 0;
let lastSpoken = Infinity;

function secondsLeft() {
  return Math.round(Number(countdown.dataset.deadline) - Date.now() / 1000 - skewSeconds);
}

function wordsFor(seconds) {
  if (seconds <= 0) return "Time is up";
  if (seconds <= LOUD_SECONDS) {
    return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")} left`;
  }
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} minutes left`;
  if (minutes < 2880) {
    const rest = minutes % 60;
    return `${Math.floor(minutes / 60)} h${rest ? ` ${rest} min` : ""} left`;
  }
  return `${Math.floor(minutes / 1440)} days left`;
}

function tick() {
  const seconds = secondsLeft();
  const words = wordsFor(seconds);
  if (countdown.textContent !== words) countdown.textContent = words;
  countdown.classList.toggle("is-loud", seconds <= LOUD_SECONDS);
  const minutes = SPOKEN_MINUTES.filter((one) => seconds <= one * 60).pop();
  if (minutes !== undefined && minutes < lastSpoken && seconds > 0) {
    // What is already past when the page opens is not announced one after the other.
    said.textContent = `${minutes} minute${minutes === 1 ? "" : "s"} left to submit this HIT.`;
    lastSpoken = minutes;
  }
  if (seconds > 0) {
    setTimeout(tick, seconds > LOUD_SECONDS + 60 ? 15000 : 1000);
  } else {
    said.textContent = "The time for this HIT is up.";
  }
}

function askToReturn() {
  if (dialog && !dialog.open) dialog.showModal();
}

function afterSubmitting() {
  if (document.getElementById("accepts-next").checked) {
    document.getElementById("next-form").submit();
  } else {
    window.location.replace(frame.dataset.submitted);
  }
}

window.addEventListener("message", (event) => {
  if (event.source !== frame.contentWindow || typeof event.data !== "object" || !event.data) return;
  if (event.origin === window.location.origin && event.data.marketplace === "submitted") {
    if (frame.dataset.submitted) afterSubmitting();
  } else if (event.origin === frame.dataset.origin && event.data.collector === "return") {
    askToReturn();
  }
});

if (returnLink) {
  returnLink.addEventListener("click", (event) => {
    event.preventDefault();
    askToReturn();
  });
  dialog.querySelector("[data-closes]").addEventListener("click", (event) => {
    event.preventDefault();
    dialog.close();
  });
}

if (preference) {
  preference.addEventListener("change", () => {
    const body = new URLSearchParams(new FormData(preference));
    body.set("quietly", "1");
    fetch(preference.action, { method: "POST", body, credentials: "same-origin" });
  });
}

const leastHeight = Number(frame.dataset.leastHeight);
if (leastHeight > 0) frame.style.minHeight = `${leastHeight}px`;
if (countdown) tick();
