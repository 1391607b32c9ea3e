// Runs the bar around a task's frame: countdown, return, and what happens after submitting.
import { Folding } from "./folding.js";

const frame = document.getElementById("task");
const countdown = document.getElementById("countdown");
const said = document.getElementById("countdown-said");
const dialog = document.getElementById("return-dialog");
const returnLink = document.getElementById("return-link");
const preference = document.getElementById("next-preference");

const LOUD_SECONDS = 600;
const SPOKEN_MINUTES = [10, 5, 1];
// What a task hands in is answered within this time, or the way here was cut.
const ANSWER_SECONDS = 5;
// setTimeout cannot wait longer than this, and a sleeping computer wakes up late anyway.
const LONGEST_WAIT_SECONDS = 60;

// The server's clock decides; this computer's may be wrong.
const skewSeconds = countdown ? Number(countdown.dataset.now) - Date.now() / 1000 : 0;
const line = document.getElementById("bar-line");
const quietLine = line ? line.textContent : "";
let lastSpoken = Infinity;
let nextTick;
const extendForm = document.getElementById("extend-form");

function deadline() {
  return Number(countdown.dataset.deadline);
}

function secondsLeft() {
  return Math.round(deadline() - Date.now() / 1000 - skewSeconds);
}

// Until ten minutes remain the bar names the hour and does not tick: the task may have a clock.
// An hour names one moment of the next twelve hours, after midnight too; later ones need the day.
function hourOf(epochSeconds) {
  const time = new Date((epochSeconds - skewSeconds) * 1000);
  const isSoon = time - Date.now() < 12 * 3600 * 1000;
  const style = isSoon ? { timeStyle: "short" } : { dateStyle: "medium", timeStyle: "short" };
  const language = document.documentElement.lang;
  const habit = navigator.languages.find((one) => one.split("-")[0] === language) ?? language;
  return new Intl.DateTimeFormat(habit, style).format(time);
}

function wordsFor(seconds) {
  const words = countdown.dataset;
  if (seconds <= 0) return words.up;
  if (seconds > LOUD_SECONDS) return words.until.replace("{time}", hourOf(deadline()));
  const clock = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
  return words.left.replace("{time}", clock);
}

function explain(words, epochSeconds) {
  const sentence = words.replace("{time}", hourOf(epochSeconds));
  if (line.textContent !== sentence) line.textContent = line.title = sentence;
}

function tick() {
  clearTimeout(nextTick);
  const seconds = secondsLeft();
  const words = wordsFor(seconds);
  if (countdown.textContent !== words) countdown.textContent = words;
  const isLoud = seconds <= LOUD_SECONDS;
  countdown.classList.toggle("is-loud", isLoud);
  line.classList.toggle("is-loud", isLoud);
  if (extendForm) extendForm.hidden = extendForm.isGiven || !isLoud || seconds <= 0;
  const minutes = SPOKEN_MINUTES.filter((one) => seconds <= one * 60).pop();
  if (minutes !== undefined && minutes < lastSpoken && seconds > 0) {
    // What is already past when the page opens is not announced one after the other.
    said.textContent = said.getAttribute(`data-${minutes}`);
    lastSpoken = minutes;
  }
  if (seconds > LOUD_SECONDS) {
    nextTick = setTimeout(tick, 1000 * Math.min(seconds - LOUD_SECONDS, LONGEST_WAIT_SECONDS));
  } else if (seconds > 0) {
    explain(line.dataset.soon, deadline());
    nextTick = setTimeout(tick, 1000);
  } else {
    explain(line.dataset.over, Number(countdown.dataset.grace));
    said.textContent = said.getAttribute("data-0");
  }
}

function askToReturn() {
  if (dialog && !dialog.open) dialog.showModal();
}

/** What the task has to say of leaving it stands in the same question, whoever asked it. */
function alsoSay(words) {
  const also = document.getElementById("return-also");
  if (!also) return;
  also.textContent = words.slice(0, 200);
  also.hidden = !words;
}

/** More time moves the one deadline: here, on the server, and in the task, which is told so. */
async function askForTime(event) {
  event?.preventDefault();
  const button = extendForm.querySelector("button");
  button.disabled = true;
  try {
    const body = new URLSearchParams(new FormData(extendForm));
    body.set("quietly", "1");
    const answer = await fetch(extendForm.action, { method: "POST", body, credentials: "same-origin" });
    const given = await answer.json();
    countdown.dataset.deadline = given.deadline;
    countdown.dataset.grace = given.grace;
    extendForm.isGiven = true;
    lastSpoken = Infinity;
    line.textContent = quietLine;
    line.title = "";
    frame.contentWindow.postMessage({ marketplace: "extended", address: given.address }, taskOrigin());
    tick();
  } catch {
    line.textContent = button.dataset.refused;
  }
  button.disabled = false;
}

function taskOrigin() {
  return frame.dataset.origin === "null" ? "*" : frame.dataset.origin;
}

function afterSubmitting() {
  if (document.getElementById("accepts-next")?.checked) {
    document.getElementById("next-form").submit();
  } else {
    window.location.replace(frame.dataset.submitted);
  }
}

/** Where no answer comes, this page is opened again once it can be: it shows the receipt of what came
through, else the task, which offers to hand in once more. */
function awaitAnswer() {
  setTimeout(async () => {
    // An answer, whatever it says, is a page of this site, and only such a page can be looked into.
    if (frame.contentDocument) return;
    try {
      const answer = await fetch(window.location.href, { method: "HEAD", credentials: "same-origin" });
      if (answer.status < 500) {
        window.location.reload();
        return;
      }
    } catch {
      // Nobody is there yet.
    }
    awaitAnswer();
  }, 1000 * ANSWER_SECONDS);
}

const quietTitle = document.title;

/** A task that waits for its worker says so in the title of the tab; "" when it does not any more. */
function callByTitle(words) {
  document.title = words ? `● ${words.slice(0, 60)} · ${quietTitle}` : quietTitle;
}

const folding = countdown && new Folding(document.querySelector(".bar"), frame, {
  more: () => extendForm && !extendForm.hidden && askForTime(),
  next: (isOn) => {
    document.getElementById("accepts-next").checked = isOn;
    keepPreference();
  },
});

window.addEventListener("message", (event) => {
  if (event.source !== frame.contentWindow || typeof event.data !== "object" || !event.data) return;
  // A requester's own HTML has no origin, nor has the reply that takes its place in the frame.
  const isOwn = event.origin === window.location.origin || frame.dataset.origin === "null";
  if (isOwn && event.data.marketplace === "submitted") {
    if (frame.dataset.submitted) afterSubmitting();
  } else if (event.origin === frame.dataset.origin && event.data.collector === "return") {
    askToReturn();
  } else if (event.origin === frame.dataset.origin && event.data.collector === "handing-in") {
    awaitAnswer();
  } else if (event.origin === frame.dataset.origin && typeof event.data.title === "string") {
    callByTitle(event.data.title);
  } else if (event.origin === frame.dataset.origin && typeof event.data.leaving === "string") {
    alsoSay(event.data.leaving);
  } else if (event.origin === frame.dataset.origin) {
    folding?.hear(event.data);
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

if (extendForm) extendForm.addEventListener("submit", askForTime);

function keepPreference() {
  const body = new URLSearchParams(new FormData(preference));
  body.set("quietly", "1");
  fetch(preference.action, { method: "POST", body, credentials: "same-origin" });
  folding?.tell();
}

if (preference) {
  preference.addEventListener("change", keepPreference);
  const box = document.getElementById("accepts-next");
  // Somebody may have been quicker than this script.
  if (box.checked !== box.defaultChecked) keepPreference();
}

const leastHeight = Number(frame.dataset.leastHeight);
if (leastHeight > 0) frame.style.minHeight = `${leastHeight}px`;
const leastWidth = Number(frame.dataset.leastWidth);
if (leastWidth > 0) frame.style.minWidth = `${leastWidth}px`;
if (countdown) tick();
