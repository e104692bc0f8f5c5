// Cut a text to its first lines, for long output.

/** Return {kept, lines, full}: at most `room` lines of the text, their number, and whether there are more. */
export function firstLines(text, room) {
  let end = 0;
  for (let lines = 0; lines < room; lines += 1) {
    const next = text.indexOf("\n", end);
    if (next < 0) return { kept: text, lines, full: false };
    end = next + 1;
  }
  return { kept: text.slice(0, end), lines: room, full: end < text.length };
}
