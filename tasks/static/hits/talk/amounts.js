/** Amounts and times as people read them. */

/** money: {symbol, code, minor_units}. */
export function amount(cents, money) {
  const number = (cents / 10 ** money.minor_units).toLocaleString("en-US", {
    minimumFractionDigits: money.minor_units, maximumFractionDigits: money.minor_units,
  });
  return money.symbol ? `${money.symbol}${number}` : `${number} ${money.code}`;
}

/** What a HIT of dialogs has earned in all, of {reward_cents, waiting_cents, turns_cents}. */
export function inAll({ reward_cents: reward, waiting_cents: waiting, turns_cents: turns }) {
  return reward + waiting + turns;
}

/** 75 → "1:15". */
export function minutes(seconds) {
  const whole = Math.max(0, Math.floor(seconds));
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}

/** count(1, "question") → "1 question". */
export function count(number, noun) {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}
