// The lines of an exercise that check the answer: what to say when a reader has deleted them.

// A statement at the left margin, and the lines that it goes on with: indented ones, or a closing bracket.
const CHECK = /^(?:exercises\.check\w*\(|assert\b).*(?:\n(?:[ \t]+\S.*|[)\]}].*))*/gm;

/** The statements of `code` that check an answer. */
export const checksOf = (code) => code.match(CHECK) ?? [];

/** Of a run that checked nothing: the printed `lines` that are gone, and the words that say so. */
export function nothingChecked(printed, source) {
  const here = checksOf(source);
  const lines = checksOf(printed).filter((check) => !here.includes(check)).join("\n\n");
  const why = lines ? "this cell no longer has the line that checks your answer. Put it back at the end:" : "the line that checks your answer did not run.";
  return { lines, words: `Nothing was checked: ${why}` };
}
