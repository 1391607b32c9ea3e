/** How far the worker is from a bonus, in words. */

import { amount } from "../talk/amounts.js";

/** standing: {round, block}, either of them null; money: how amounts are written. */
export function showStanding(root, standing, money) {
  const lines = [...(standing?.round ? roundLines(standing.round, money) : []), ...(standing?.block ? blockLines(standing.block, money) : [])];
  root.hidden = !lines.length;
  root.querySelector("[data-standing-lines]").replaceChildren(...lines.flatMap(([term, ...words]) => [
    element("dt", term), ...words.filter(Boolean).map((sentence) => element("dd", sentence)),
  ]));
}

function roundLines({ every, done, own, place, cents, lacking, next_cents: next }, money) {
  const held = place ? `You are in place ${place}: ${amount(cents, money)} if it stays so.` : "";
  const wanted = lacking ? `${lacking} more${place ? "" : " of yours"} would earn ${amount(next, money)}, as it is now.` : "";
  return [["Most questions", `${done} of this round’s ${every} are approved, ${own} of them yours.`, held, wanted]];
}

function blockLines({ size, own, per_hour: pace, paces }, money) {
  const better = paces.filter((one) => one.examples_per_hour > pace).sort((one, other) => one.examples_per_hour - other.examples_per_hour)[0];
  const reached = paces.filter((one) => one.examples_per_hour <= pace).sort((one, other) => other.cents - one.cents)[0];
  const state = own ? `${own} of your next ${size} are approved, ${pace} an hour so far.` : `It is counted over ${size} of your approved questions.`;
  const held = own && reached ? `${amount(reached.cents, money)} at this pace.` : "";
  const wanted = better ? `From ${better.examples_per_hour} an hour: ${amount(better.cents, money)}.` : "";
  return [["Pace", state, held, wanted]];
}

function element(tag, textContent) {
  return Object.assign(document.createElement(tag), { textContent });
}
