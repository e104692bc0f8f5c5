// Complete names in the editor: those defined above the cell and in it, and attributes after a dot.
import { autocompletion, acceptCompletion, closeCompletion, completionStatus, CompletionContext, moveCompletionSelection, selectedCompletion, startCompletion } from "@codemirror/autocomplete";
import { localCompletionSource, python } from "@codemirror/lang-python";
import { ensureSyntaxTree } from "@codemirror/language";
import { EditorState } from "@codemirror/state";

const WORD = /^[\w\xa1-\uffff]*$/;

/** Return the names that code binds at its top level as completions. The limit of 2000 ms allows for a busy
 *  browser. */
function boundIn(source) {
  const state = EditorState.create({ doc: `${source}\n`, extensions: [python()] });
  ensureSyntaxTree(state, state.doc.length, 2000);
  return localCompletionSource(new CompletionContext(state, state.doc.length, true))?.options ?? [];
}

const unique = (options) => [...new Map(options.map((option) => [option.label, option])).values()];

/** Return the completion extension. `above()` returns the code of the cells above, `members(path)` a promise of
 *  the attributes of a dotted path. */
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

/** Accept the selected name, or the first, on Tab; without an open list Tab indents. */
function take(view) {
  if (completionStatus(view.state) !== "active") return false;
  if (!selectedCompletion(view.state)) moveCompletionSelection(true)(view);
  return acceptCompletion(view);
}

/** Enter accepts a name only if one was selected with the arrow keys, so that it can still end a line. */
export const keys = [
  { key: "Ctrl-Space", run: startCompletion },
  { key: "ArrowDown", run: moveCompletionSelection(true) },
  { key: "ArrowUp", run: moveCompletionSelection(false) },
  { key: "Enter", run: acceptCompletion },
  { key: "Tab", run: take },
];

/** Close the list, also one that is still being computed; return whether it was open. */
export function closeList(view) {
  const open = completionStatus(view.state) === "active";
  closeCompletion(view);
  return open;
}
