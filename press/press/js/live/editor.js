// The editor of a live cell: CodeMirror 6 with Python, bundled by esbuild, loaded on the first edit.
import { minimalSetup } from "codemirror";
import { indentWithTab } from "@codemirror/commands";
import { python } from "@codemirror/lang-python";
import { bracketMatching, HighlightStyle, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { EditorState, Prec } from "@codemirror/state";
import { EditorView, keymap } from "@codemirror/view";
import { closeList, completion, keys as completionKeys } from "./complete.js";
import { tags } from "@lezer/highlight";

const colours = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.modifier], color: "var(--live-keyword)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--live-string)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--live-number)" },
  { tag: tags.comment, color: "var(--live-comment)", fontStyle: "italic" },
  { tag: [tags.definition(tags.variableName), tags.function(tags.variableName)], color: "var(--live-name)" },
]);

const look = EditorView.theme({
  "&": { fontSize: "inherit", color: "inherit" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "inherit", lineHeight: "inherit", overflowX: "auto" },
  ".cm-content": { caretColor: "currentColor", padding: "1rem 0" },
  ".cm-line": { padding: "0 1rem" },
  ".cm-cursor": { borderLeftColor: "currentColor" },
  ".cm-tooltip": { background: "var(--pst-color-background)", color: "var(--pst-color-text-base)", border: "1px solid var(--pst-color-border)" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": { fontFamily: "inherit", maxHeight: "11em" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li": { padding: "0.15em 0.6em" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { background: "var(--pst-color-primary)", color: "var(--pst-color-background)" },
  ".cm-completionMatchedText": { textDecoration: "none", fontWeight: "bold" },
  ".cm-selectionBackground, &.cm-focused .cm-selectionBackground": { background: "var(--live-selection)" },
});

/** Create an editor inside `host`. Its styles are constructed sheets in a shadow root, so that it works with a
 *  policy without inline styles. Tab indents, or accepts an offered name; Escape closes that list, then leaves
 *  the editor, so that keyboard users are not trapped. `above` and `members` provide names, see complete.js. */
export function create({ host, source, label, onChange, onRun, onLeave, above, members }) {
  const root = host.shadowRoot || host.attachShadow({ mode: "open" });
  const keys = Prec.highest(keymap.of([
    ...["Shift-Enter", "Ctrl-Enter", "Mod-Enter"].map((key) => ({ key, run: (view) => (closeList(view), onRun(), true) })),
    { key: "Escape", run: (view) => closeList(view) || (onLeave(), true) },
    ...completionKeys,
  ]));
  const view = new EditorView({
    root,
    parent: root,
    doc: source,
    extensions: [
      keys,
      keymap.of([indentWithTab]),
      minimalSetup,
      python(),
      completion({ above, members }),
      indentUnit.of("    "),
      EditorState.tabSize.of(4),
      bracketMatching(),
      syntaxHighlighting(colours),
      look,
      EditorView.contentAttributes.of({ "aria-label": label }),
      EditorView.updateListener.of((update) => update.docChanged && onChange(view.state.doc.toString())),
    ],
  });
  return {
    focus: () => view.focus(),
    hasFocus: () => view.hasFocus,
    source: () => view.state.doc.toString(),
    set: (text) => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } }),
  };
}
