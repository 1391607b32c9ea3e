/** Cutting a text where ranges begin and end, so that overlapping marks can be drawn. */

/** ranges: {start, end, …} in one unit, 0 ≤ start < end ≤ length. Returns, in order and
    without gaps, {start, end, ranges: those that cover the piece, the longest first}. */
export function segments(length, ranges) {
  const cuts = new Set([0, length]);
  for (const range of ranges) {
    cuts.add(range.start);
    cuts.add(range.end);
  }
  const points = [...cuts].filter((cut) => cut >= 0 && cut <= length).sort((a, b) => a - b);
  const sorted = [...ranges].sort((a, b) => a.start - b.start);
  const pieces = [];
  let next = 0;
  let open = [];
  for (let i = 0; i + 1 < points.length; i += 1) {
    const [start, end] = [points[i], points[i + 1]];
    open = open.filter((range) => range.end > start);
    while (next < sorted.length && sorted[next].start <= start) {
      if (sorted[next].end > start) open.push(sorted[next]);
      next += 1;
    }
    const covering = [...open].sort((a, b) => b.end - b.start - (a.end - a.start));
    pieces.push({ start, end, ranges: covering });
  }
  return pieces;
}
