/** The rooms before and after a dialog: waiting, being asked whether one is there, the bill. */

import { amount, count, inAll, minutes } from "./amounts.js";

const find = (selector) => document.querySelector(selector);
const put = (selector, words) => {
  const element = find(selector);
  if (element.textContent !== words) element.textContent = words;
};

/** The waiting room, every second; secondsTo(iso): how long until then, negative for the past. */
export function showWaiting({ waiting, earned }, money, secondsTo) {
  const waited = Math.max(0, waiting.waited_seconds - secondsTo(waiting.since));
  const most = waiting.wait_minutes * 60;
  put("[data-waited]", minutes(Math.min(waited, most)));
  put("[data-waited-most]", `${waiting.wait_minutes} minutes at most`);
  const paid = Math.floor(Math.min(waited, most) * waiting.cents_per_minute / 60);
  put("[data-earned]", amount(inAll({ ...earned, waiting_cents: paid }), money));
  put("[data-earned-note]", waiting.cents_per_minute
    ? `${amount(waiting.cents_per_minute, money)} a minute, and ${amount(earned.reward_cents, money)} for submitting`
    : `${amount(earned.reward_cents, money)} for submitting`);
  put("[data-usual]", waiting.usual_questions ? `about ${count(waiting.usual_questions, "question")}` : `up to ${count(waiting.max_questions, "question")}`);
  put("[data-usual-note]", `${amount(waiting.first_cents, money)} for the first answer to ${amount(waiting.last_cents, money)} for the last, at most ${amount(waiting.most_cents, money)}`);
  put("[data-ready-seconds]", String(waiting.ready_seconds));
  Object.assign(find("[data-wait-bar]"), { max: most, value: Math.min(waited, most) });
  showAfter(waiting.after, earned, money);
}

function showAfter(after, earned, money) {
  const element = find("[data-after]");
  element.hidden = !after;
  if (!after) return;
  const why = after.ending === "reported" && after.by_me
    ? "Thank you for your report; a person reads it."
    : "Your partner is not there any more.";
  const kept = earned.turns_cents ? ` The ${amount(earned.turns_cents, money)} you have earned by answered questions stay yours.` : "";
  put("[data-after]", `${why}${kept} We are looking for somebody else.`);
}

/** The check whether both are there. */
export function showReady({ dialog }, secondsTo) {
  const student = dialog.role === "student";
  const left = Math.max(0, secondsTo(dialog.until));
  put("[data-ready-lead]", dialog.ready ? "Thank you. As soon as your partner has said so too, it begins." : "Say that you are here, and the dialog begins.");
  put("[data-ready-role]", student
    ? `You ask: about “${dialog.title}”, of which your partner sees a section.`
    : `You answer: from a section about “${dialog.title}” that only you see.`);
  put("[data-ready-left]", `${dialog.ready ? "They have" : "You have"} ${minutes(left)}`);
  const button = find("[data-action=ready]");
  button.hidden = dialog.ready;
}

const ends = {
  all_asked: () => "All questions are asked.",
  unanswerable: () => "The text did not answer as many questions as a dialog may have of them.",
  ended: (mine) => mine ? "You have ended the dialog." : "Your partner has ended the dialog.",
  left: (mine) => mine ? "You were away for too long, so the dialog has ended." : "Your partner is not there any more.",
  // Nobody is told that they were reported: that is for the requester to judge.
  reported: (mine) => mine ? "Thank you for your report; a person reads it." : "Your partner has ended the dialog.",
};

/** What it earned, line by line. */
export function showOver({ dialog, earned }, money) {
  put("[data-over-lead]", dialog ? ends[dialog.ending]?.(dialog.ended_by_me) ?? "" : "You are not paired any more; your wait is paid.");
  const lines = [
    ["This HIT, for submitting", earned.reward_cents],
    ["Waiting", earned.waiting_cents],
    [count(earned.turns, "answered question"), earned.turns_cents],
  ].filter(([, cents], index) => cents || !index);
  find("[data-bill] tbody").replaceChildren(...lines.map(([words, cents]) => row(words, amount(cents, money))));
  find("[data-over-rest]").hidden = lines.length === 1;
  find("[data-bill] tfoot").replaceChildren(row("Together", amount(inAll(earned), money)));
  find("[data-complain-after]").hidden = !dialog || dialog.reported || (dialog.ending === "left" && dialog.ended_by_me);
}

function row(words, cents) {
  const line = document.createElement("tr");
  const head = Object.assign(document.createElement("th"), { scope: "row", textContent: words });
  line.append(head, Object.assign(document.createElement("td"), { textContent: cents }));
  return line;
}
