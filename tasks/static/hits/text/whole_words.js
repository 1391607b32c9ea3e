/** What a mark covers: whole words, as the server asks for them (tasks/work/widgets/spans.py, `whole`). */

const closings = { "(": ")", "[": "]", "{": "}" };
const openings = { ")": "(", "]": "[", "}": "{" };
const not = /^n['’]t$/iu;
const tail = /^(?:['’][\p{L}\p{N}_]+|n['’]t)$/iu;

/** The first and the last of the tokens that are marked with tokens `first` to `last`, without half
    a pair of brackets at an end and with no tail of a word at the start; null where none is left.
    characters: of the text, as code points; tokens: [[start, end, is it a word?]]. */
export function whole(characters, tokens, first, last) {
  const words = (at, to = at) => characters.slice(tokens[at][0], tokens[to][1]).join("");
  const half = (at, never, perhaps) => {
    const bracket = words(at);
    const many = (one) => words(first, last).split(one).length;
    return Object.hasOwn(never, bracket) || (Object.hasOwn(perhaps, bracket) && many(bracket) > many(perhaps[bracket]));
  };
  const goesOn = (at, pattern) => at > 0 && at < tokens.length && tokens[at - 1][2] !== false
    && tokens[at - 1][1] === tokens[at][0] && pattern.test(words(at));
  while (first <= last) {
    if (half(first, openings, closings)) first += 1;
    else if (half(last, closings, openings)) last -= 1;
    else break;
  }
  if (first > last) return null;
  while (goesOn(first, tail)) first -= 1;
  while (goesOn(last + 1, not)) last += 1;
  return [first, last];
}
