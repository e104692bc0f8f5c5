// Find the lines of an exercise that check the answer, and explain if a reader has deleted them.

// A statement at the left margin with its continuation lines: indented ones, or a closing bracket.
const CHECK = /^(?:exercises\.check\w*\(|assert\b).*(?:\n(?:[ \t]+\S.*|[)\]}].*))*/gm;

/** Return the statements of `code` that check an answer. */
export const checksOf = (code) => code.match(CHECK) ?? [];

/** For a run that checked nothing, return the printed `lines` that are missing, and an explanation. */
export function nothingChecked(printed, source) {
  const here = checksOf(source);
  const lines = checksOf(printed).filter((check) => !here.includes(check)).join("\n\n");
  const why = lines ? "this cell no longer has the line that checks your answer. Put it back at the end:" : "the line that checks your answer did not run.";
  return { lines, words: `Nothing was checked: ${why}` };
}
