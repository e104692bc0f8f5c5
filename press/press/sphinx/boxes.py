"""Render theorems, definitions and proofs as boxes with kind, number, lecture and permalink.

sphinx-proof parses the directives; before a page is written, we replace its nodes by simple boxes.
"""

import re
from functools import cache

from docutils import nodes
from myst_nb.sphinx_ import HideCodeCellNode
from sphinx.util.docutils import SphinxTranslator
from sphinx_proof.nodes import NODE_TYPES, proof_node

from press import ledger

KINDS = tuple(NODE_TYPES.values())
NUMBER = r"\(?\d+(?:\.\d+)*\)?"
# "(17.38), (17.39) The logistic risk", "1 of Lecture 13", "17.2 (Gibbs)", "(3): regret of ..."
LEADING = re.compile(rf"({NUMBER}(?:(?:, | to | and ){NUMBER})*)?(,? (?:of|in) Lecture \d+)?[:,]?\s*")
FOLDS = {  # {default label of myst-nb: our label}
    "Show code cell source": "The code",
    "Show code cell content": "The code and what it prints",
    "Show code cell output": "What it prints",
}
KINDS_OF_FOLD = {"Worked solution": "solution", "How exercise": "checker", "Check": "checker"}
PROOF = "Proof. "
MATHS = re.compile(r"\$([^$]+)\$")


class box(nodes.General, nodes.Element):
    """A framed statement, such as a theorem, a definition or an algorithm, or a proof."""


def heading(kind, title):
    """Split the heading of a box into kind with number, and name.

    >>> heading("theorem", "Theorem 1 of Lecture 13")
    ('Theorem 1', '')
    >>> heading("algorithm", "(2) Follow the leader")
    ('Algorithm (2)', 'Follow the leader')
    >>> heading("lemma", "Lemma 17.2 (Gibbs)")
    ('Lemma 17.2', '(Gibbs)')
    >>> heading("proposition", "Theorem 2 of Lecture 13 and (17.3)")
    ('Proposition', 'Theorem 2 of Lecture 13 and (17.3)')
    """
    word = kind.title()
    rest = title.removeprefix(word).lstrip() if title.startswith(f"{word} ") else title
    match = LEADING.match(rest)
    number = match[1]
    if number:
        rest = rest[match.end() :]
    return f"{word} {number}" if number else word, rest


def shorten(title, name):
    """Return the nodes of a title, which may contain formulas, cut to its last `len(name)` characters."""
    spare = len(title.astext()) - len(name)
    for text in list(title.findall(nodes.Text)):
        cut = min(spare, len(text))
        spare -= cut
        text.parent.replace(text, nodes.Text(text[cut:]))
    return title.children


@cache
def lectures():
    """Return {anchor in lower case: (lecture, anchor)} for all items and errata in the ledger."""
    return {
        ledger.anchor(entry["id"]).lower(): (
            part["lecture"].partition(":")[0],
            ledger.anchor(entry["id"]),
        )
        for part in ledger.load().values()
        for entry in part["items"] + part["errata"]
    }


def permalink(identifier, what):
    """Return the # link that appears when a reader points at something with an address."""
    link = nodes.reference("", "#", refid=identifier, classes=["headerlink"])
    link["reftitle"] = f"Link to this {what}"
    return link


def statement(app, docname, node):
    """Return a theorem-like node of sphinx-proof as a box."""
    kind, identifier = node["realtype"], node["ids"][0]
    title, content = node.children
    label, name = heading(kind, title.astext())
    head = nodes.paragraph(classes=["box-head"])
    head += nodes.inline("", label, classes=["kind"])
    if name:
        head += [
            nodes.Text(" "),
            nodes.inline("", "", *shorten(title, name), classes=["name"]),
        ]
    head += permalink(identifier, kind)
    source = lectures().get(identifier.lower())
    if source:
        lecture, anchor = source
        uri = app.builder.get_relative_uri(docname, "book/concordance")
        row = nodes.reference("", lecture, refuri=f"{uri}#row-{anchor}", internal=True, classes=["source"])
        row["reftitle"] = "Its row in the concordance"
        head += [nodes.Text(" "), row]
    return box(
        "",
        head,
        *content.children,
        ids=node["ids"],
        classes=["box", kind, *extra(node, kind)],
    )


def extra(node, kind):
    """Return the classes of a node except those of its kind."""
    return [name for name in node["classes"] if name not in ("proof", kind)]


def proof(node):
    """Return a proof as a box, with its first word emphasised and a square at the end."""
    (inner,) = node.children
    result = box("", *inner.children, ids=node["ids"], classes=["box", "proof"])
    text = next(result.findall(nodes.Text))
    if text.startswith(PROOF):
        place = text.parent.index(text)
        rest = [nodes.Text(text[len(PROOF) :])]
        text.parent[place : place + 1] = [
            nodes.inline("", PROOF.strip(), classes=["kind"]),
            nodes.Text(" "),
            *rest,
        ]
    last = result.children[-1]
    if not isinstance(last, nodes.paragraph):
        last = nodes.paragraph(classes=["qed-line"])
        result += last
    last += nodes.raw(
        "",
        ' <span class="qed" role="img" aria-label="end of proof"></span>',
        format="html",
    )
    return result


def make_boxes(app, doctree, docname):
    """Replace the nodes of sphinx-proof by boxes, innermost first, since a proof may contain a claim."""
    if app.builder.format != "html":
        return
    for node in reversed(list(doctree.findall(lambda n: isinstance(n, (*KINDS, proof_node))))):
        new = proof(node) if isinstance(node, proof_node) else statement(app, docname, node)
        node.parent[node.parent.index(node)] = new  # replace_self would keep the old classes
    for equation in doctree.findall(nodes.math_block):
        if equation["ids"] and not equation.get("number"):
            equation.parent.insert(equation.parent.index(equation) + 1, equation_link(equation["ids"][0]))


def equation_link(identifier):
    """Return the permalink of an equation without a number."""
    return nodes.paragraph("", "", permalink(identifier, "equation"), classes=["equation-link"])


def set_words_of_links(app, doctree, docname):
    """Parse formulas in dollars in the text of links, which Sphinx leaves unparsed."""
    for link in doctree.findall(nodes.reference):
        for text in [t for t in link.findall(nodes.Text) if MATHS.search(t) and is_words(t)]:
            parts = MATHS.split(text)
            new = [nodes.math("", p) if n % 2 else nodes.Text(p) for n, p in enumerate(parts) if p]
            text.parent[text.parent.index(text) : text.parent.index(text) + 1] = new


def is_words(text):
    """Return whether a text is not inside a formula or code."""
    return not isinstance(text.parent, (nodes.math, nodes.literal))


def slug(text, words=6):
    """Return the first words of a text as an id."""
    return "-".join(re.findall(r"[a-z0-9]+", text.lower())[:words])


def name_addresses(app, doctree):
    """Give figures and exercises without an id a stable one.

    A figure's id is made from its caption, so that it does not change when a figure is inserted above; that
    of an exercise from its number.
    """
    taken = set(doctree.ids)
    for node in doctree.findall(lambda n: isinstance(n, (nodes.figure, nodes.admonition))):
        if isinstance(node, nodes.figure):
            caption = next(node.findall(nodes.caption), None)
            name = caption and f"figure-{slug(caption.astext())}"
            wanted = all(re.fullmatch(r"id\d+", identifier) for identifier in node["ids"])
        else:
            name = slug(node[0].astext().partition(":")[0]) if "exercise" in node["classes"] else None
            wanted = not node["ids"]
        if name and wanted and name not in taken:
            taken.add(name)
            node["ids"] = [name]
        if name and isinstance(node, nodes.admonition):
            node[0] += permalink(node["ids"][0], "exercise")


def count_figures_by_page(app, env):
    """Number the figures of each page from 1."""
    for numbers in env.toc_fignumbers.values():
        figures = numbers.get("figure", {})
        numbers["figure"] = {identifier: (place,) for place, identifier in enumerate(figures, 1)}


def visit_box(self: SphinxTranslator, node):
    self.body.append(self.starttag(node, "div"))


def depart_box(self, node):
    self.body.append("</div>\n")


def visit_fold(self, node):
    """Open the fold of a cell; the label does not change, because browsers announce the state."""
    title = node["prompt_show"]
    kind = next((kind for begin, kind in KINDS_OF_FOLD.items() if title.startswith(begin)), "code-fold")
    self.body.append(f'<details class="fold {kind}">\n')
    self.body.append(f"<summary>{self.encode(FOLDS.get(title, title))}</summary>\n")


def depart_fold(self, node):
    self.body.append("</details>\n")


def setup(app):
    app.add_node(box, html=(visit_box, depart_box))
    app.add_node(HideCodeCellNode, override=True, html=(visit_fold, depart_fold))
    app.connect("doctree-read", name_addresses)
    app.connect("env-check-consistency", count_figures_by_page)
    app.connect("doctree-resolved", make_boxes)
    app.connect("doctree-resolved", set_words_of_links)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
