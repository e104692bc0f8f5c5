"""Show the Coq proofs: a fold below each proved box, the Coq files as pages, and a table of both.

`formal/coverage.yml` says which theorem of which file belongs to which box. The files `formal/*.v` are only
parsed here; `make formal` checks the proofs with Coq.
"""

import re
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import ClassVar

import yaml
from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective

from press import ROOT, ledger
from press.sphinx import course, elsewhere
from press.sphinx.boxes import box
from press.sphinx.tables import link, table

FOLDER = ROOT / "formal"
NAMED = re.compile(
    r"^(?:Theorem|Lemma|Corollary|Definition|Fixpoint|Record|Inductive) ([\w']+)", re.MULTILINE
)
IMPORT = re.compile(r"From Formal Require Import ([^.]*)\.")
BOUND = re.compile(r"[({]([\w' ]+) :|\bfun ([\w' ]+) =>|^Variables? ([\w' ]+) :", re.MULTILINE)
DECLARED = re.compile(r"(?:Variables?|Hypothes[ei]s|Context|Let) ")
WORD = re.compile(r"[A-Za-z_][\w']*")
TITLE = re.compile(r"^`{3,}\{prf:\w+\} *(.*)\n:label: (\S+)", re.MULTILINE)


@dataclass
class Block:
    """A piece of a Coq file: a comment for readers, or code with its proof and the comment above it."""

    text: str
    doc: bool = False
    proof: str = ""
    about: str = ""
    names: list[str] = field(default_factory=list)
    given: str = ""  # variables and hypotheses of the enclosing sections


@cache
def coverage():
    """Return {label of a box: {coq, left} or {reason}}."""
    return yaml.safe_load((FOLDER / "coverage.yml").read_text("utf8"))


@cache
def blocks(module):
    """Return the pieces of `formal/<module>.v` in order.

    >>> [b.names for b in blocks("Leader") if "theorem_1" in b.names]
    [['theorem_1']]
    """
    lines, found, at = (FOLDER / f"{module}.v").read_text("utf8").split("\n"), [], 0
    sections = []

    def take(last):
        nonlocal at
        begin = at
        while at < len(lines) and not last(lines[at]):
            at += 1
        at += 1
        return "\n".join(lines[begin:at]).strip("\n")

    while at < len(lines):
        if not lines[at].strip():
            at += 1
        elif lines[at].startswith("(**"):
            found.append(Block(take(lambda line: line.rstrip().endswith("*)")), doc=True))
        elif lines[at].startswith("Proof."):
            found[-1].proof = take(lambda line: line.rstrip().endswith(("Qed.", "Defined.")))
        else:
            begin, at = at, at + 1
            while at < len(lines) and lines[at].strip() and not lines[at].startswith(("(**", "Proof.")):
                at += 1
            text = "\n".join(lines[begin:at])
            about = found[-1].text if found and found[-1].doc else ""
            given = "\n".join(line for section in sections for line in section)
            found.append(Block(text, about=about, names=NAMED.findall(text), given=given))
            declare(sections, text)
    return found


def declare(sections, text):
    """Update the stack of open sections and their declarations."""
    for sentence in re.split(r"(?<=\.)\n", text):
        if sentence.startswith("Section "):
            sections.append([])
        elif sentence.startswith("End ") and sections:
            sections.pop()
        elif DECLARED.match(sentence) and sections:
            sections[-1].append(sentence)


@cache
def definitions(module):
    """Return {name: (module, block)} for everything defined in a file and in its imports."""
    found = {}
    for block in blocks(module):
        for line in IMPORT.findall(block.text):
            for used in line.split():
                found |= definitions(used)
        found |= dict.fromkeys(block.names, (module, block))
    return found


def docname(module):
    """Return the page of a file."""
    return f"book/formal/{module.lower()}"


def anchor(name):
    """Return the anchor of a theorem or definition on that page."""
    return "coq-" + name.replace("_", "-").replace("'", "-prime").lower()


# ---------------------------------------------------------------- words


def inline(text):
    """Return a line of a comment as nodes; text in square brackets is code.

    >>> [type(node).__name__ for node in inline("the point [w t] of S")]
    ['Text', 'literal', 'Text']
    """
    parts = re.split(r"\[([^\]]+)\]", " ".join(text.split()))
    return [nodes.literal("", part) if n % 2 else nodes.Text(part) for n, part in enumerate(parts) if part]


def prose(comment, headings=True):
    """Return the comment (** ... *) as headings, paragraphs and lists."""
    body = comment.removeprefix("(**").rstrip().removesuffix("*)")
    found = []
    for part in re.split(r"\n[ \t]*\n", body):
        words = part.strip()
        match = re.match(r"(\*+) (.*)", words, re.DOTALL)
        if match:
            if headings and len(match[1]) > 1:
                found.append(nodes.rubric("", "", *inline(match[2])))
            elif not headings:
                found.append(nodes.paragraph("", "", *inline(match[2])))
            continue
        first, *items = re.split(r"\n?[ \t]*(?:^|\n)[ \t]*- ", "\n" + words)
        if first.strip():
            found.append(nodes.paragraph("", "", *inline(first)))
        if items:
            # a sentence on a new line may follow the last item
            *before, last = items
            last, *rest = re.split(r";?\n[ \t]*(?=[A-Z])|\.\n[ \t]*(?=[A-Z])", last, maxsplit=1)
            listed = [*before, last]
            entries = [nodes.list_item("", nodes.paragraph("", "", *inline(i))) for i in listed]
            found.append(nodes.bullet_list("", *entries))
            found += [nodes.paragraph("", "", *inline(more)) for more in rest]
    return found


def code(text, **attributes):
    """Return a block of Coq code."""
    return nodes.literal_block(text, text, language="coq", **attributes)


def fold(title, *content, kind="formal"):
    """Return the content in a fold."""
    begin = f'<details class="fold {kind}"><summary>{title}</summary>'
    return [nodes.raw("", begin, format="html"), *content, nodes.raw("", "</details>", format="html")]


def first_sentence(comment):
    """Return the first sentence of a comment, which says what a definition means."""
    words = " ".join(comment.removeprefix("(**").removesuffix("*)").split()).lstrip("* ")
    return re.split(r"(?<=[.:])\s+(?=[A-Z\-])", words)[0].rstrip(":")


# ---------------------------------------------------------------- under a box


def key(module, block):
    """Return our own definitions that a statement uses, as [(name, module, meaning)].

    >>> [name for name, *_ in key("Leader", next(b for b in blocks("Leader") if "theorem_1" in b.names))]
    ['regularised_leader']
    """
    text, known, found = f"{block.given}\n{block.text}", definitions(module), []
    bound = {name for groups in BOUND.findall(text) for group in groups for name in group.split()}
    for name in dict.fromkeys(WORD.findall(text)):
        if name in known and name not in bound and name not in block.names:
            home, used = known[name]
            if used.about and not used.text.startswith(("Theorem", "Lemma", "Corollary")):
                found.append((name, home, first_sentence(used.about)))
    return found


def mark(entry):
    """Return the fold below a box: every theorem with comment, statement and the definitions it uses."""
    content = []
    for full in entry["coq"]:
        module, name = full.split(".")
        block = next(b for b in blocks(module) if name in b.names)
        content += prose(block.about, headings=False)
        if block.given:
            content += [nodes.paragraph("", "Declared above it in the file:"), code(block.given)]
        content.append(code(block.text))
        words = key(module, block)
        if words:
            items = [
                nodes.list_item(
                    "",
                    nodes.paragraph(
                        "", "", link(docname(used), anchor(word), word), nodes.Text(": "), *inline(says)
                    ),
                )
                for word, used, says in words
            ]
            content += [nodes.paragraph("", "Definitions used:"), nodes.bullet_list("", *items)]
        place = link(docname(module), anchor(name), f"{full}, with its proof")
        content.append(nodes.paragraph("", "", place))
    if "left" in entry:
        content.append(nodes.paragraph("", f"Not proved in Coq: {entry['left']}."))
    how = link("book/formal", "", "How to read this, and what you have to trust")
    content.append(nodes.paragraph("", "", how))
    return fold("Proved in Coq" + (", in part" if "left" in entry else ""), *content)


def mark_boxes(app, doctree, name):
    """Add the fold at the end of each box that is proved in Coq."""
    if app.builder.format != "html" or "book/formal" not in app.env.found_docs:
        return
    known = {label.lower(): entry for label, entry in coverage().items() if "coq" in entry}
    for found in list(doctree.findall(box)):
        entry = next((known[i] for i in map(str.lower, found["ids"]) if i in known), None)
        if entry:
            found += mark(entry)


# ---------------------------------------------------------------- pages


class Coq(SphinxDirective):
    """``{coq} Leader``: show a file, with its comments as text and its proofs folded."""

    required_arguments = 1

    def run(self):
        module = self.arguments[0]
        self.env.note_dependency(str(FOLDER / f"{module}.v"))
        result = []
        for block in blocks(module):
            if block.doc:
                result += prose(block.text)
                continue
            result.append(code(block.text, ids=[anchor(name) for name in block.names[:1]]))
            result += [nodes.target("", "", ids=[anchor(name)]) for name in block.names[1:]]
            if block.proof:
                result += fold("The proof", code(block.proof), kind="code-fold")
        return result


class Statement(SphinxDirective):
    """``{coq-statement} Leader.theorem_1``: show one statement, with the option `proof` also its proof."""

    required_arguments = 1
    option_spec: ClassVar = {"proof": directives.flag}

    def run(self):
        module, name = self.arguments[0].split(".")
        self.env.note_dependency(str(FOLDER / f"{module}.v"))
        return [code(shown(module, name, "proof" in self.options))]


def shown(module, name, proof=False):
    """Return a statement as in its file."""
    block = next(b for b in blocks(module) if name in b.names)
    return f"{block.text}\n{block.proof}" if proof else block.text


class Proved(SphinxDirective):
    """``{proved}``: list every statement of the book with its Coq theorem, or the reason why it has none."""

    def run(self):
        self.env.note_dependency(str(FOLDER / "coverage.yml"))
        return [
            table(["In the book", "In Coq", "What is left"], map(self.row, coverage().items()), ["status"])
        ]

    def row(self, item):
        """Return the cells of one statement: its box, its Coq theorems, and what is not proved."""
        label, entry = item
        page, exact = course.places()[label.lower()]
        words, _ = self.state.inline_text(titles()[label], self.lineno)
        place = link(page, exact, " ")
        place.children = []
        place += words
        proofs = []
        for full in entry.get("coq", []):
            module, name = full.split(".")
            proofs += [nodes.Text(", "), link(docname(module), anchor(name), full)]
        left = entry.get("left") or entry.get("reason") or ""
        return [place], proofs[1:] or "", left


@cache
def titles():
    """Return {label: title of the box}; an item without a box has its name from the ledger."""
    texts = (path.read_text("utf8") for path in Path(ROOT, "pages").rglob("*.md"))
    named = {
        ledger.anchor(entry["id"]): f"{elsewhere.NAMES[prefix]}, {entry['item']}"
        for prefix, part in ledger.load().items()
        for entry in part["items"]
    }
    return named | {label: title for text in texts for title, label in TITLE.findall(text)}


def cell(identifier):
    """Return a cell for the concordance: whether an item is proved in Coq, linked to the theorem."""
    entry = coverage().get(identifier.replace(".", "-"))
    if not entry or "coq" not in entry:
        return []
    module, name = entry["coq"][0].split(".")
    return [link(docname(module), anchor(name), "in part" if "left" in entry else "yes")]


def setup(app):
    app.add_directive("coq", Coq)
    app.add_directive("coq-statement", Statement)
    app.add_directive("proved", Proved)
    app.connect("doctree-resolved", mark_boxes)  # after the boxes exist, before links are resolved
    app.setup_extension("press.sphinx.tables")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
