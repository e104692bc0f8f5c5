"""Convert a page to plain Markdown, for notebooks that are read outside the book.

JupyterLab and Colab do not know the book's directives and roles. A statement becomes a bold heading with the
number that the page shows, a reference becomes a link, and a citation names author and year. Links lead to
the other notebooks (the download button turns them into links to the site), or to the site, if its address is
known, for pages without a notebook. `press.html.downloads` and `press.print.sheet` use this module.
"""

import ast
import base64
import copy
import json
import posixpath
import re
import textwrap
from dataclasses import dataclass
from functools import cache

import nbformat
from nbformat.v4 import new_markdown_cell, new_notebook
from pybtex.database import parse_file
from pybtex.plugin import find_plugin

from press import ledger
from press.pages import notebooks, questions
from press.sphinx import boxes, formal

LABEL = re.compile(r"^\(([\w.-]+)\)=|^:(?:label|name): +([\w.-]+)", re.MULTILINE)
FENCE = re.compile(r"(`{3,}|:{3,})\{([\w:-]+)\} *(.*)")
OPTION = re.compile(r":(\w+):(?: (.*))?$")
TARGET = re.compile(r"^\([\w.-]+\)=(?:\n|$)", re.MULTILINE)
ROLE = re.compile(r"\{([\w:]+)\}`([^`]+)`")
LINK = re.compile(r"\[([^\]]+)\]\(([\w./-]+)\.(?:ipynb|md)(#[\w-]+)?\)")
PICTURE = re.compile(r"(!\[[^\]]*\])\(([\w./-]+/([\w-]+\.svg))\)")
STATEMENTS = {f"prf:{kind}" for kind in boxes.NODE_TYPES} - {"prf:proof"}
WORDS = re.compile(r"(.*) <([^>]+)>", re.DOTALL)
RULE = "\n***\n"


# ---------------------------------------------------------------- facts about the whole book


@cache
def documents():
    """Return {name of a page below book/: its text} for all pages."""
    texts = {path.relative_to(notebooks.TEXT): path for path in notebooks.pages()}
    texts |= {path.relative_to(notebooks.BOOK): path for path in notebooks.BOOK.rglob("*.md")}
    return {name.with_suffix("").as_posix(): path.read_text("utf8") for name, path in texts.items()}


@cache
def has_notebook(name):
    """Return whether a page has a notebook."""
    return (notebooks.TEXT / f"{name}.md").exists()


@cache
def labels():
    """Return {label in lower case: (page, label)} for the whole book."""
    return {
        (label or name).lower(): (page, label or name)
        for page, text in documents().items()
        for label, name in LABEL.findall(text)
    }


def title(name):
    """Return the title of a page."""
    return re.search(r"^# (.+)$", documents()[name], re.MULTILINE)[1]


@cache
def bibliography():
    """Return the entries of references.bib."""
    return parse_file(str(notebooks.BOOK / "references.bib")).entries


def cited(key):
    """Return (authors, year) of a reference, in words.

    >>> cited("Zinkevich2003"), cited("Lecture9")
    (('Zinkevich', '2003'), ('Lecture 9', ''))
    """
    entry = bibliography()[key]
    authors = entry.persons.get("author", [])
    names = [" ".join([*person.prelast_names, *person.last_names]) for person in authors]
    shown = " and ".join(names) if len(names) < 3 else f"{names[0]} et al."
    return re.sub(r"[{}]", "", shown or entry.fields.get("key", key)), entry.fields.get("year", "")


def references(keys):
    """Return the entries of a bibliography, one line each."""
    style = find_plugin("pybtex.style.formatting", "plain")()
    backend = find_plugin("pybtex.backends", "text")()
    found = style.format_entries([bibliography()[key] for key in dict.fromkeys(keys)])
    return "\n".join(sorted(f"- {entry.text.render(backend)}" for entry in found))


# ---------------------------------------------------------------- one page


def defined(file, name):
    """Return the source of `function` or `Class.method` in a file, without decorators."""
    source = file.read_text("utf8")
    place = ast.parse(source)
    for part in name.split("."):
        place = next(node for node in place.body if getattr(node, "name", None) == part)
    return textwrap.dedent("\n".join(source.split("\n")[place.lineno - 1 : place.end_lineno]))


@dataclass
class Page:
    """A page that is converted: its name, such as `lecture-13-oco/the-game`, and the address of the book.

    `alone` means that no other notebook is beside it, so that links lead to the site. `answers` to proof
    exercises are "folded", "open" or "left out".
    """

    name: str
    site: str = ""
    alone: bool = False
    answers: str = "folded"

    def __post_init__(self):
        self.keys = []

    def link(self, words, page, anchor=""):
        """Return a link to a notebook beside this one, or to the site, or else only the words."""
        if has_notebook(page) and not self.alone:
            return f"[{words}]({posixpath.relpath(page, posixpath.dirname(self.name) or '.')}.ipynb{anchor})"
        return f"[{words}]({self.site}/book/{page}.html{anchor})" if self.site else words

    def beside(self, path):
        """Return the name of a page given relative to this one."""
        return posixpath.normpath(posixpath.join(posixpath.dirname(self.name), path))

    def role(self, match):
        """Return a reference or a citation in words."""
        kind, content = match.groups()
        split = WORDS.fullmatch(content)
        words, target = split.groups() if split else (content, content)
        if kind in ("ref", "prf:ref"):
            page, label = labels()[target.lower()]
            return self.link(words, page, f"#{label}")
        if kind == "doc":
            page = self.beside(target)
            return self.link(words if split else title(page), page)
        if kind == "term":
            return self.link(words, "glossary", f"#term-{'-'.join(target.split())}")
        if kind.startswith("cite"):
            self.keys += (keys := [key.strip() for key in target.split(",")])
            named = [cited(key) for key in keys]
            if kind == "cite:t":
                return " and ".join(f"{names} ({year})" if year else names for names, year in named)
            return f"[{'; '.join(' '.join(filter(None, pair)) for pair in named)}]"
        if kind == "mod":
            return f"`{words}`"
        if kind == "slip":
            found = ledger.erratum(target)
            anchor = f"#{ledger.anchor(found['id'])}"
            return f"({self.link('slip', found['page'], anchor)})" if self.site else ""
        raise ValueError(f"{self.name}: no plain form of {match[0]}")

    def inline(self, text):
        """Return the text with links and roles converted."""
        text = LINK.sub(lambda m: self.link(m[1], self.beside(m[2]), m[3] or ""), text)
        return ROLE.sub(self.role, TARGET.sub("", text))

    def blocks(self, text):
        """Return the text with every directive converted, the inner ones first."""
        parts = split(text)
        return "\n".join(
            p if isinstance(p, str) else self.directive(p.kind, p.argument, *p.inside()) for p in parts
        )

    def directive(self, kind, argument, given, body):
        """Return one directive in plain form."""
        body = self.blocks(body).strip()
        if kind in STATEMENTS:
            label, name = boxes.heading(kind.removeprefix("prf:"), argument)
            source = boxes.lectures().get(given.get("label", "").lower())
            head = f"**{label}**" + (f" ({source[0]})" if source else "") + (f" **{name}**" if name else "")
            return f"{RULE}\n{head}\n\n{body}\n{RULE}"
        if kind == "prf:proof":
            return f"*Proof.* {body} ∎" if not body.endswith("$$") else f"*Proof.* {body}\n\n∎"
        if kind == "admonition":
            return f"**{argument}**\n\n{body}"
        if kind == "quick":
            return quick(questions.read_quick(argument, given, body))
        if kind == "task":
            return f"**{argument}** ({questions.facts(*questions.read_facts(given))})\n\n{body}"
        if kind == "hints":
            found = questions.read_hints(argument, body)
            return "\n\n".join(fold(f"Hint {n} of {len(found)}", hint) for n, hint in enumerate(found, 1))
        if kind in questions.PROOFS:
            asked = given.get("title") or f"Proof: {questions.PROOFS[kind]}"
            told = questions.facts(*questions.read_facts(given))
            shown = proof(questions.read_proof(kind, argument, body), ANSWERS[self.answers])
            return f"**{asked}** ({told})\n\n{shown}"
        if kind == "moving-figure":
            return f"{body}\n\n*On the page of the book this figure can be moved.*"
        if kind == "coq-statement":
            return f"```coq\n{formal.shown(*argument.split('.'), 'proof' in given)}\n```"
        if kind == "literalinclude":
            file = notebooks.BOOK / posixpath.dirname(self.name) / argument
            return f"```python\n{defined(file, given['pyobject'])}\n```"
        raise ValueError(f"{self.name}: no plain form of {{{kind}}}")

    def markdown(self, text):
        """Return a text of the page as plain Markdown."""
        return re.sub(r"\n{3,}", "\n\n", self.inline(self.blocks(text))).strip()


def fold(summary, body):
    """Return a fold that also works in Jupyter."""
    return f"<details><summary>{summary}</summary>\n\n{body}\n\n</details>"


#: how the answers to a proof exercise are shown, given a summary and a text
ANSWERS = {
    "folded": fold,
    "open": lambda summary, body: f"*{summary}.*\n\n{body}",
    "left out": lambda summary, body: "",
}


def bullets(texts, mark="-"):
    """Return a list in Markdown, with the further paragraphs of an item indented."""
    return "\n".join(f"{mark} " + textwrap.indent(text, " " * (len(mark) + 1)).lstrip() for text in texts)


def explained(choices, right="Right.", wrong="Not this one."):
    """Return choices with their explanations as a list."""
    return bullets([f"{c.text} **{right if c.right else wrong}**\n\n{c.why}" for c in choices])


def quick(asked):
    """Return a quick question, with its answer folded below."""
    if asked.answer is None:
        shown, told = f"\n\n{bullets(c.text for c in asked.choices)}", explained(asked.choices)
    else:
        wrong = [f"Not {c.text}.\n\n{c.why}" for c in asked.choices]
        shown, told = "", bullets([f"**{asked.answer:g}.** {asked.why}", *wrong])
    return f"**Quick question.** {asked.text}{shown}\n\n{fold('Answer', told)}"


def proof(asked, tell=fold):
    """Return a proof exercise; `tell(summary, text)` formats its answers."""
    begin, lines = f"{asked.text}\n\n" if asked.text else "", asked.lines
    if asked.kind == "proof-order":
        shown = bullets(lines[place].text for place in asked.shuffled())
        return f"{begin}{shown}\n\n{tell('The right order', bullets([n.text for n in lines], '1.'))}"
    if asked.kind == "proof-flaw":
        told = explained(lines, "This is the false line.", "This line is true.")
        return f"{begin}{bullets([n.text for n in lines], '1.')}\n\n{tell('Answer', told)}"
    if asked.kind == "proof-rubric":
        told = bullets([f"{line.text}\n\n*One way to say it.* {line.why}" for line in lines])
        return begin + tell("Compare with the rubric", told)
    steps = []
    for line in lines:
        steps.append(line.text)
        if line.choices:
            steps += [bullets(c.text for c in line.choices), tell("Answer", explained(line.choices))]
    return begin + "\n\n".join(steps)


@dataclass
class Block:
    """A directive: `{kind} argument` and the lines inside."""

    kind: str
    argument: str
    lines: list

    def inside(self):
        """Return ({option: value}, the rest of its lines)."""
        given, lines = {}, self.lines
        while lines and (match := OPTION.match(lines[0])):
            given[match[1]] = match[2] or ""
            lines = lines[1:]
        return given, "\n".join(lines)


def split(text):
    """Return lines and directives in their order; a code listing stays as it is."""
    lines, result = text.split("\n"), []
    while lines:
        line = lines.pop(0)
        match = FENCE.fullmatch(line)
        if not match and not line.startswith("```"):
            result.append(line)
            continue
        fence = match[1] if match else "```"
        end = next(n for n, other in enumerate(lines) if closes(other, fence))
        inside, lines = lines[:end], lines[end + 1 :]
        result.append(Block(match[2], match[3], inside) if match else "\n".join([line, *inside, fence]))
    return result


def closes(line, fence):
    """Return whether the line ends a block that `fence` began."""
    return len(line.rstrip()) >= len(fence) and set(line.rstrip()) == {fence[0]}


# ---------------------------------------------------------------- one notebook


def is_solution(cell):
    """Return whether a cell is a worked solution."""
    return "solution" in notebooks.tags(cell)


def notebook(name, site="", solutions=True):
    """Return the notebook of a page for download: its cells keep their ids, its text is plain."""
    made = nbformat.read(notebooks.BOOK / f"{name}.ipynb", as_version=4)
    made.cells = plain_cells(Page(name, site), made.cells, solutions)
    return made


def plain_cells(page, cells, solutions=True):
    """Return the cells in plain form, with captions below figures and the references at the end."""
    result, figures = [], 0
    for cell in cells:
        if is_solution(cell) and not solutions:
            continue
        if cell.cell_type == "markdown":
            result.append(plain_text(page, cell))
            continue
        result.append(folded(cell))
        caption = cell.metadata.get("mystnb", {}).get("figure", {}).get("caption")
        if caption:
            figures += 1
            text = page.inline(f"**Figure {figures}.** {caption}")
            result.append(new_markdown_cell(text, id=f"{cell.id}-caption"))
    if page.keys:
        listed = f"## References\n\n{references(page.keys)}"
        result.append(new_markdown_cell(listed, id="references"))
    return result


def plain_text(page, cell):
    """Return a text cell in plain form, with the book's pictures attached."""
    attachments = {}

    def take(match):
        file = notebooks.BOOK / page.beside(match[2])
        attachments[match[3]] = {"image/svg+xml": base64.b64encode(file.read_bytes()).decode()}
        return f"{match[1]}(attachment:{match[3]})"

    made = new_markdown_cell(PICTURE.sub(take, page.markdown(cell.source)), id=cell.id)
    if attachments:
        made.attachments = attachments
    return made


def folded(cell):
    """Return a code cell; folded cells are folded in JupyterLab and, by their first line, in Colab.

    The tag `book` distinguishes it from cells that a student adds, even if an editor drops the ids.
    """
    tags = notebooks.tags(cell)
    made = copy.deepcopy(cell)
    made.metadata.pop("mystnb", None)
    made.metadata["tags"] = [*(tag for tag in tags if not tag.startswith(("hide", "remove"))), "book"]
    if any(tag.startswith("hide") for tag in tags):
        told = cell.metadata.get("mystnb", {}).get("code_prompt_show", "The code of the figure")
        made.source = f"# @title {told}\n{cell.source}"
        made.metadata |= {"cellView": "form", "jupyter": {"source_hidden": True}}
    if "hide-cell" in tags:
        made.metadata["jupyter"]["outputs_hidden"] = True
    return made


def collected(cells):
    """Return a new notebook with these cells, not yet executed."""
    notebooks.give_ids(cells, [])
    made = new_notebook(cells=cells, metadata=notebooks.METADATA)
    made.nbformat_minor = 5
    return made


DATA = """

# Download the files that this page reads, unless they are here already.
import urllib.request

for name in {names}:
    if not pathlib.Path(name).exists():
        if not address:
            raise Missing(f"This page reads {{name}}, which is in the zip of all notebooks.")
        place = urllib.parse.urljoin(address, f"{folder}{{name}}")
        urllib.request.urlretrieve(place, name)"""


def with_data(made, name, files):
    """Return the notebook with a first cell that also downloads those of the files that are missing."""
    if files:
        names = json.dumps([file.name for file in files])
        folder = posixpath.join(posixpath.dirname(name), "")  # empty for a page at the top
        made.cells[0].source += DATA.format(names=names, folder=folder)
    return made
