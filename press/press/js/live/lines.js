// The first lines of a text, for output that is cut off.

/** {kept, lines, full}: at most `room` lines of the text, and whether more would have come. */
export function firstLines(text, room) {
  let end = 0;
  for (let lines = 0; lines < room; lines += 1) {
    const next = text.indexOf("\n", end);
    if (next < 0) return { kept: text, lines, full: false };
    end = next + 1;
  }
  return { kept: text.slice(0, end), lines: room, full: end < text.length };
}
