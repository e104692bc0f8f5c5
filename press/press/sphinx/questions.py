"""Define the directives for quick questions, tasks with hints, proof exercises and slips.

`{quick}` asks for a choice or a number; `{task}` is the box of an exercise with level and minutes, and
`{hints}` has its hints; `{proof-order}`, `{proof-reasons}`, `{proof-flaw}` and `{proof-rubric}` are proof
exercises; the role `{slip}` links to an erratum. `press.pages.questions` reads their text.
"""

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective, SphinxRole

from press import ledger
from press.pages.questions import (
    PROOFS,
    Choice,
    facts,
    is_named,
    read_facts,
    read_hints,
    read_proof,
    read_quick,
)
from press.sphinx import tables


class element(nodes.General, nodes.Element):
    """An HTML element that docutils has no node for: `element(tag="label", attributes={…})`."""


def make(tag, *children, classes=(), id=None, **attributes):
    """Return an `element`; underscores in attribute names become hyphens."""
    named = {key.replace("_", "-"): value for key, value in attributes.items() if value is not None}
    ids = [id] if id else []
    return element("", *children, tag=tag, attributes=named, classes=list(classes), ids=ids)


def visit_element(translator, node):
    """Write the start tag."""
    empty = node["tag"] == "input"
    tag = translator.emptytag if empty else translator.starttag
    translator.body.append(tag(node, node["tag"], "", **node["attributes"]))


def depart_element(translator, node):
    """Write the end tag, if the element has one."""
    if node["tag"] != "input":
        translator.body.append(f"</{node['tag']}>\n")


def pass_over(translator, node):
    """Write only the content, in other output formats than HTML."""


def options(*names):
    """Return the option_spec of a directive with these options, as plain text."""
    return dict.fromkeys(names, directives.unchanged)


class Asking(SphinxDirective):
    """Base of the directives: parses text to nodes, and reports a ValueError with its place in the source."""

    has_content = True

    def parse(self, text):
        """Return the nodes of a Markdown text."""
        box = nodes.container()
        self.state.nested_parse(text.split("\n"), self.content_offset, box)
        return box.children

    def inline(self, text):
        """Return the nodes of one paragraph, for places where no paragraph is allowed."""
        found = self.parse(text)
        if len(found) != 1 or not isinstance(found[0], nodes.paragraph):
            raise ValueError(f"this must be one paragraph: {text!r}")
        return found[0].children

    def run(self):
        """Return the nodes of the directive, made by `made` of the subclass."""
        try:
            return self.made()
        except ValueError as error:
            raise self.error(str(error)) from None

    def text(self):
        """Return the content of the directive."""
        return "\n".join(self.content)

    def choices(self, name, choices, legend):
        """Return the choices as radio buttons."""
        rows = []
        for place, choice in enumerate(choices):
            radio = make("input", type="radio", name=name, value=str(place), id=f"{name}-{place}")
            label = make("label", *self.inline(choice.text), **{"for": f"{name}-{place}"})
            rows.append(make("div", radio, label, classes=["choice"]))
        return make("fieldset", make("legend", nodes.Text(legend)), *rows, classes=["choices"])

    def answers(self, choices, right="Right.", wrong="Not this one."):
        """Return a fold with all explanations; the script of the page shows that of the chosen answer."""
        rows = []
        for choice in choices:
            word = nodes.strong("", right if choice.right else wrong)
            said = nodes.paragraph("", "", *self.inline(choice.text), nodes.Text(" "), word)
            why = make("div", *self.parse(choice.why), classes=["why"])
            right_one = "yes" if choice.right else None
            rows.append(make("div", said, why, classes=["answer"], data_right=right_one))
        return self.fold("Answer", *rows, classes=["answers"])

    def fold(self, summary, *children, classes=()):
        """Return a fold."""
        return make("details", make("summary", nodes.Text(summary)), *children, classes=["fold", *classes])


def head(words, name, what):
    """Return the first line of a box, with its permalink."""
    link = nodes.reference("", "#", refid=name, classes=["headerlink"])
    link["reftitle"] = f"Link to this {what}"
    return nodes.paragraph("", "", nodes.inline("", words, classes=["kind"]), link, classes=["box-head"])


class QuickQuestion(Asking):
    """``{quick} q-id``: a question with choices, or with a number as answer."""

    required_arguments = 1
    option_spec = options("answer", "tolerance", "verify")

    def made(self):
        quick = read_quick(self.arguments[0], self.options, self.text())
        box = nodes.container("", ids=[quick.name], classes=["quick"])
        box += head("Quick question", quick.name, "question")
        box += nodes.container("", *self.parse(quick.text), classes=["asked"])
        if quick.answer is None:
            box["classes"].append("choose")
            box += self.choices(quick.name, quick.choices, "Choose one")
            box += self.answers(quick.choices)
        else:
            box["classes"].append("number")
            box += self.number(quick)
        return [box]

    def number(self, quick):
        """Return the input field for a number, and the fold with the explanations."""
        label = make("label", nodes.Text("Your number"), **{"for": f"{quick.name}-number"})
        field = make(
            "input",
            type="text",
            inputmode="decimal",
            autocomplete="off",
            id=f"{quick.name}-number",
            size="10",
        )
        given = {"data_answer": repr(quick.answer), "data_tolerance": repr(quick.tolerance)}
        rows = [
            make(
                "div", *self.parse(f"**{quick.answer:g}.** {quick.why}"), classes=["answer"], data_right="yes"
            )
        ]
        for choice in quick.choices:
            why = make("div", *self.parse(choice.why), classes=["why"])
            said = nodes.paragraph("", f"Not {choice.text}.")
            rows.append(make("div", said, why, classes=["answer"], data_number=repr(float(choice.text))))
        return [
            make("div", label, field, classes=["field"], **given),
            self.fold("Answer", *rows, classes=["answers"]),
        ]


class Task(Asking):
    """``{task} Exercise 2: its title``: the box of an exercise."""

    required_arguments = 1
    final_argument_whitespace = True
    option_spec = options("name", "level", "minutes")

    def made(self):
        return [self.box(self.arguments[0], self.options.get("name", ""), self.parse(self.text()))]

    def box(self, title, name, content, kind="code"):
        """Return the box with title, level, minutes and content, and register its id."""
        is_named(name, "ex")
        level, minutes = read_facts(self.options)
        told = nodes.paragraph("", facts(level, minutes), classes=["exercise-facts"])
        box = nodes.admonition("", nodes.title("", "", *self.inline(title)), told, *content)
        box["classes"] += ["exercise", f"level-{level}"]
        box["ids"] = [name]
        box["exercise"] = {"level": level, "minutes": minutes, "kind": kind}
        if name in self.state.document.ids:
            raise ValueError(f"the id {name} is used twice on this page")
        box["names"] = [name]
        self.state.document.note_explicit_target(box)
        return box


class Hints(Asking):
    """``{hints} ex-id``: two or three hints that open one by one."""

    required_arguments = 1

    def made(self):
        name = self.arguments[0]
        found = read_hints(name, self.text())
        folds = [
            self.fold(f"Hint {place} of {len(found)}", *self.parse(hint), classes=["hint-fold"])
            for place, hint in enumerate(found, 1)
        ]
        return [make("div", *folds, classes=["hints"], data_exercise=name)]


class ProofExercise(Task):
    """``{proof-order} ex-id`` and so on: a proof to put in order, to justify, to correct, or to write."""

    required_arguments = 1
    final_argument_whitespace = False
    option_spec = options("title", "level", "minutes")

    def made(self):
        proof = read_proof(self.name, self.arguments[0], self.text())
        asked = PROOFS[proof.kind]
        title = self.options.get("title") or f"Proof: {asked}"
        content = [*(self.parse(proof.text) if proof.text else []), *getattr(self, proof.kind[6:])(proof)]
        work = nodes.container("", *content, classes=["proof-work", proof.kind])
        return [self.box(title, proof.name, [work], kind="proof")]

    def order(self, proof):
        """Return the shuffled lines, and a fold with the right order."""
        rows = [
            make("li", *self.parse(proof.lines[place].text), data_place=str(place))
            for place in proof.shuffled()
        ]
        right = [nodes.list_item("", *self.parse(line.text)) for line in proof.lines]
        listed = nodes.enumerated_list("", *right, enumtype="arabic", prefix="", suffix=".")
        return [
            make("ol", *rows, classes=["order"]),
            self.fold("The right order", listed, classes=["answers"]),
        ]

    def reasons(self, proof):
        """Yield the lines, each with a choice of reasons if it has one."""
        for place, line in enumerate(proof.lines, 1):
            yield nodes.container("", *self.parse(line.text), classes=["proof-line"])
            if line.choices:
                name = f"{proof.name}-{place}"
                yield make(
                    "div",
                    self.choices(name, line.choices, f"Why does line {place} hold?"),
                    self.answers(line.choices),
                    classes=["choose"],
                )

    def flaw(self, proof):
        """Yield the lines as choices: which one is false?"""
        choices = [Choice(line.text, line.why, line.right) for line in proof.lines]
        yield make(
            "div",
            self.choices(f"{proof.name}-line", choices, "Which line is false?"),
            self.answers(choices, right="This is the false line.", wrong="This line is true."),
            classes=["choose"],
        )

    def rubric(self, proof):
        """Yield a text field for the reader's proof, and a fold with the rubric."""
        name = f"{proof.name}-proof"
        yield make("label", nodes.Text("Your proof"), **{"for": name})
        yield make("textarea", id=name, rows="8")
        rows = []
        for place, line in enumerate(proof.lines):
            tick = make("input", type="checkbox", id=f"{name}-{place}")
            label = make("label", *self.inline(line.text), **{"for": f"{name}-{place}"})
            model = self.fold("One way to say it", *self.parse(line.why))
            rows += [make("div", tick, label, classes=["choice"]), model]
        legend = make("legend", nodes.Text("Tick what your proof has"))
        yield self.fold(
            "Compare with the rubric",
            make("fieldset", legend, *rows, classes=["rubric"]),
            classes=["compare"],
        )


class SlipRole(SphinxRole):
    """``{slip}`ox13.e05` ``: a small mark in the margin that links to the erratum."""

    def run(self):
        try:
            found = ledger.erratum(self.text)
        except ValueError as error:
            return [], [self.inliner.reporter.error(str(error), line=self.lineno)]
        link = tables.link("book/" + found["page"], ledger.anchor(found["id"]), "slip")
        link["reftitle"] = "The lecture has a slip here: see its errata"
        return [nodes.inline("", "", link, classes=["slip"])], []


def add_files(app, pagename, templatename, context, doctree):
    """Add questions.js to pages with questions (`press.html.light` merges it into book.js)."""
    if doctree is not None and any(doctree.findall(element)):
        app.add_js_file("questions.js", loading_method="defer")


def setup(app):
    others = dict.fromkeys(("latex", "text", "man", "texinfo"), (pass_over, pass_over))
    app.add_node(element, html=(visit_element, depart_element), **others)
    app.add_directive("quick", QuickQuestion)
    app.add_directive("task", Task)
    app.add_directive("hints", Hints)
    for name in PROOFS:
        app.add_directive(name, ProofExercise)
    app.add_role("slip", SlipRole())
    app.add_css_file("questions.css")
    app.connect("html-page-context", add_files)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
