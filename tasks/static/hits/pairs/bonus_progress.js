/** How far the worker is from a bonus, in words. */

import { amount } from "../talk/amounts.js";

/** progress: {round, block}, either of them null; money: how amounts are written. */
export function showBonusProgress(root, progress, money) {
  const lines = [...(progress?.round ? roundLines(progress.round, money) : []), ...(progress?.block ? blockLines(progress.block, money) : [])];
  root.hidden = !lines.length;
  root.querySelector("[data-bonus-progress-lines]").replaceChildren(...lines.flatMap(([term, ...words]) => [
    element("dt", term), ...words.filter(Boolean).map((sentence) => element("dd", sentence)),
  ]));
}

function roundLines({ every, can_fill: canFill, done, own, place, cents, lacking, next_cents: next }, money) {
  const state = `${done} of this round’s ${every} are approved, ${own} of them yours.`;
  if (!canFill) return [["Most questions", state, "There are too few pairs to fill it: unless more are added, nobody earns this bonus."]];
  const held = place ? `You are in place ${place}: ${amount(cents, money)} if it stays so until the round is full.` : "";
  const wanted = lacking ? `${lacking} more${place ? "" : " of yours"} would earn ${amount(next, money)} if the round were full now.` : "";
  return [["Most questions", state, held, wanted]];
}

function blockLines({ size, can_fill: canFill, own, per_hour: pace, paces }, money) {
  const better = paces.filter((one) => one.examples_per_hour > pace).sort((one, other) => one.examples_per_hour - other.examples_per_hour)[0];
  const reached = paces.filter((one) => one.examples_per_hour <= pace).sort((one, other) => other.cents - one.cents)[0];
  const state = own ? `${own} of your next ${size} are approved, ${pace} an hour so far.` : `It is counted over ${size} of your approved questions.`;
  if (!canFill) return [["Pace", state, "There are too few pairs for that: unless more are added, nobody earns this bonus."]];
  const held = own && reached ? `${amount(reached.cents, money)} at this pace.` : "";
  const wanted = better ? `From ${better.examples_per_hour} an hour: ${amount(better.cents, money)}.` : "";
  return [["Pace", state, held, wanted]];
}

function element(tag, textContent) {
  return Object.assign(document.createElement(tag), { textContent });
}
