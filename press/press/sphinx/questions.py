"""Define the directives for quick questions, tasks with hints, proof exercises and slips.

`{quick}` asks for a choice or a number; `{task}` is the box of an exercise with level and minutes, and
`{hints}` has its hints; `{proof-order}`, `{proof-reasons}`, `{proof-flaw}` and `{proof-rubric}` are proof
exercises; the role `{slip}` links to an erratum. The functions `read_…` turn the text of a directive into
data, or raise a ValueError that explains what is wrong; pages, plain notebooks and tests all use them.
CONTRIBUTING describes the formats.
"""

import hashlib
import math
import random
import re
import textwrap
from dataclasses import dataclass

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective, SphinxRole

from press import ledger
from press.sphinx import tables

LEVELS = ("warm-up", "standard", "challenge")
begins = re.compile(r"(?:[-*+]|\d+[.)]) +").match  # start of a list item
MARK = re.compile(r"\[([ xX])\] +")
NUMBER = re.compile(r"(-?[0-9.]+(?:e-?[0-9]+)?)(?: = `([^`]+)`)?")  # 9.5 = `paid - best`
NAME = re.compile(r"(q|ex)-[a-z0-9]+(-[a-z0-9]+)*")
PROOFS = {  # {directive: the task in a few words}
    "proof-order": "put the lines of the proof in order",
    "proof-reasons": "give each step its reason",
    "proof-flaw": "find the false line",
    "proof-rubric": "write the proof",
}


# ---------------------------------------------------------------- the text of a directive as data


@dataclass(frozen=True)
class Choice:
    """One choice: its text, whether it is right, and why or why not.

    A wrong number may have an expression `verify`, which a test evaluates: the mistake that leads to the
    number.
    """

    text: str
    why: str
    right: bool = False
    verify: str = ""


@dataclass(frozen=True)
class Quick:
    """A quick question. `answer` is a number, or None if one of the choices is the answer."""

    name: str
    text: str
    choices: tuple[Choice, ...]
    why: str = ""  # explanation of the right number
    answer: float | None = None
    tolerance: float = 0.0
    verify: str = ""


@dataclass(frozen=True)
class Line:
    """A line of a proof, with an explanation or with a choice of reasons."""

    text: str
    why: str = ""
    right: bool = False
    choices: tuple[Choice, ...] = ()


@dataclass(frozen=True)
class Proof:
    """A proof exercise: what is to be proved, and the lines."""

    kind: str
    name: str
    text: str
    lines: tuple[Line, ...]

    def shuffled(self):
        """Return the order in which the lines are shown: always the same, never the right one."""
        places, seed = list(range(len(self.lines))), int(hashlib.sha256(self.name.encode()).hexdigest(), 16)
        while places == sorted(places):
            random.Random(seed).shuffle(places)
            seed += 1
        return places


def items(body):
    r"""Split a text that ends with a list into (text before, items); items lose their marks and indent.

    >>> items("Which?\n\n- one\n\n  Because.\n- two")
    ('Which?', ['one\n\nBecause.', 'two'])
    """
    lines = body.rstrip().split("\n")
    first = len(lines)
    while first and (not lines[first - 1] or lines[first - 1][0] == " " or begins(lines[first - 1])):
        first -= 1
    while first < len(lines) and not begins(lines[first]):
        first += 1
    found = []
    for line in lines[first:]:
        if match := begins(line):
            found.append([" " * match.end() + line[match.end() :]])
        else:
            found[-1].append(line)
    return "\n".join(lines[:first]).strip(), [textwrap.dedent("\n".join(item)).strip() for item in found]


def parted(item):
    """Split an item into (marked right?, marked at all?, first paragraph, the rest)."""
    mark = MARK.match(item)
    head, _, rest = item[mark.end() if mark else 0 :].partition("\n\n")
    return (
        bool(mark and mark[1] in "xX"),
        bool(mark),
        " ".join(head.split("\n")),
        textwrap.dedent(rest).strip(),
    )


def is_named(name, kind):
    """Raise a ValueError unless the id has the required form, such as q-which-end."""
    if not NAME.fullmatch(name) or not name.startswith(f"{kind}-"):
        raise ValueError(f"the id must be {kind}- plus lower-case letters, digits and hyphens, got {name!r}")


def read_choices(found, name):
    """Return the choices of a list; exactly one must be right, and each needs an explanation."""
    choices = []
    for item in found:
        right, marked, text, why = parted(item)
        if not marked:
            raise ValueError(f"{name}: a choice must begin with [ ] or [x], got {text!r}")
        if not why:
            raise ValueError(f"{name}: a choice needs an explanation below it, after an empty line: {text!r}")
        choices.append(Choice(text, why, right))
    if len(choices) < 2 or sum(choice.right for choice in choices) != 1:
        raise ValueError(f"{name}: give two or more choices, of which exactly one is marked [x]")
    return tuple(choices)


def read_quick(name, options, body):
    """Return the quick question of a directive; raise a ValueError that explains what is wrong."""
    is_named(name, "q")
    text, found = items(body)
    if not text:
        raise ValueError(f"{name}: the text of the question is missing")
    verify = options.get("verify", "")
    if "answer" not in options:
        return Quick(name, text, read_choices(found, name), verify=verify)
    answer = float(options["answer"])
    tolerance = float(options.get("tolerance") or 0.01 * (abs(answer) or 1.0))
    if not verify:
        raise ValueError(f"{name}: a numerical answer needs :verify: with an expression that computes it")
    wrong, why = [], ""
    for item in found:
        right, _, first, rest = parted(item)
        if right:
            why = f"{first}\n\n{rest}".strip()
        elif not rest:
            raise ValueError(f"{name}: the wrong number {first} needs an explanation below it")
        else:
            wrong.append(read_wrong(name, first, rest))
    if not why:
        raise ValueError(f"{name}: add an item marked [x] that explains the right number")
    near = [choice.text for choice in wrong if abs(float(choice.text) - answer) <= tolerance]
    if near or not math.isfinite(answer):
        raise ValueError(f"{name}: the wrong number {', '.join(near)} is within the tolerance of the answer")
    return Quick(name, text, tuple(wrong), why, answer, tolerance, verify)


def read_wrong(name, item, why):
    """Return a wrong number `9.5`, or one with the expression that gives it, ``9.5 = `paid - best` ``."""
    match = NUMBER.fullmatch(item)
    if not match:
        raise ValueError(
            f"{name}: a wrong answer must be a number, or number = its expression in backticks, got {item!r}"
        )
    return Choice(match[1], why, verify=match[2] or "")


def read_hints(name, body):
    """Return the hints of an exercise, two or more."""
    is_named(name, "ex")
    text, found = items(body)
    if text or len(found) < 2:
        raise ValueError(f"{name}: hints must be a list of two or more items and nothing else")
    return found


def read_proof(kind, name, body):
    """Return the proof exercise of a directive; raise a ValueError that explains what is wrong."""
    is_named(name, "ex")
    text, found = items(body)
    lines = []
    for item in found:
        right, _, head, rest = parted(item)
        if kind == "proof-order":
            lines.append(Line(item))
        elif kind == "proof-reasons":
            # a line may have several paragraphs; the list at its end has the reasons
            more, reasons = items(rest) if rest else ("", [])
            choices = read_choices(reasons, name) if reasons else ()
            lines.append(Line(f"{head}\n\n{more}".strip(), choices=choices))
        else:
            if not rest:
                raise ValueError(f"{name}: a line needs an explanation below it: {head!r}")
            lines.append(Line(head, rest, right))
    if len(lines) < (1 if kind == "proof-rubric" else 2):
        raise ValueError(f"{name}: there are too few lines")
    if kind == "proof-order" and len({line.text for line in lines}) < len(lines):
        raise ValueError(f"{name}: two lines are identical")
    if kind == "proof-reasons" and not any(line.choices for line in lines):
        raise ValueError(f"{name}: no line has reasons to choose from")
    if kind == "proof-flaw" and sum(line.right for line in lines) != 1:
        raise ValueError(f"{name}: mark exactly one line, the false one, with [x]")
    return Proof(kind, name, text, tuple(lines))


def read_facts(options):
    """Return (level, minutes) of an exercise; by default “standard” and 0, for unknown."""
    level, minutes = options.get("level") or "standard", int(options.get("minutes") or 0)
    if level not in LEVELS:
        raise ValueError(f"the level must be {', '.join(LEVELS)}, got {level!r}")
    if not 0 <= minutes <= 240:
        raise ValueError(f"minutes must be between 0 and 240, got {minutes}")
    return level, minutes


def facts(level, minutes):
    """Return level and minutes in words."""
    return level + (f" · about {minutes} minutes" if minutes else "")


def erratum(name):
    """Return the erratum of the ledger that a `{slip}` names by the beginning of its id."""
    found = [
        entry
        for part in ledger.load().values()
        for entry in part["errata"]
        if entry["id"] == name or entry["id"].startswith(f"{name}-")
    ]
    if len(found) != 1:
        raise ValueError(f"slip {name!r} must name one erratum of the ledger, but it matches {len(found)}")
    return found[0]


# ---------------------------------------------------------------- nodes


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
            found = erratum(self.text)
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
