// Completion in the editor: the names of the page above the cell, those of the cell, and what stands behind a dot.
import { autocompletion, acceptCompletion, closeCompletion, completionStatus, CompletionContext, moveCompletionSelection, selectedCompletion, startCompletion } from "@codemirror/autocomplete";
import { localCompletionSource, python } from "@codemirror/lang-python";
import { ensureSyntaxTree } from "@codemirror/language";
import { EditorState } from "@codemirror/state";

const WORD = /^[\w\xa1-\uffff]*$/;

/** What code binds at its top level, as completions. The limit, in milliseconds, is for a browser that is busy with something else. */
function boundIn(source) {
  const state = EditorState.create({ doc: `${source}\n`, extensions: [python()] });
  ensureSyntaxTree(state, state.doc.length, 2000);
  return localCompletionSource(new CompletionContext(state, state.doc.length, true))?.options ?? [];
}

const unique = (options) => [...new Map(options.map((option) => [option.label, option])).values()];

/** `above()` is the code of the cells above; `members(path)` promises the names behind a dotted path, if Python knows them. */
export function completion({ above, members }) {
  let known = { source: null, options: [] };
  const names = (context) => {
    const own = localCompletionSource(context);
    if (!own || context.matchBefore(/\.[\w\xa1-\uffff]*$/)) return null;
    const source = above();
    if (known.source !== source) known = { source, options: boundIn(source) };
    return { ...own, options: unique([...known.options, ...own.options]) };
  };
  const behind = async (context) => {
    const before = context.matchBefore(/[\w\xa1-\uffff][\w.\xa1-\uffff]*\.[\w\xa1-\uffff]*$/);
    if (!before) return null;
    const path = before.text.slice(0, before.text.lastIndexOf("."));
    const options = (await members(path)).map(([label, type]) => ({ label, type }));
    return options.length ? { from: before.from + path.length + 1, options, validFor: WORD } : null;
  };
  return autocompletion({ override: [names, behind], selectOnOpen: false, defaultKeymap: false, interactionDelay: 0, icons: false });
}

/** Tab takes the chosen name, or the first; without a list it is left to whoever indents. */
function take(view) {
  if (completionStatus(view.state) !== "active") return false;
  if (!selectedCompletion(view.state)) moveCompletionSelection(true)(view);
  return acceptCompletion(view);
}

/** Enter takes a name only where the arrows have chosen one: a line that is at its end can be ended. */
export const keys = [
  { key: "Ctrl-Space", run: startCompletion },
  { key: "ArrowDown", run: moveCompletionSelection(true) },
  { key: "ArrowUp", run: moveCompletionSelection(false) },
  { key: "Enter", run: acceptCompletion },
  { key: "Tab", run: take },
];

/** Whether a list was open; it is closed now, and one that was on its way does not come. */
export function closeList(view) {
  const open = completionStatus(view.state) === "active";
  closeCompletion(view);
  return open;
}
