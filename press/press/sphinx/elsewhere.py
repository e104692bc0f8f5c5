"""List machine-checked proofs by others and related chapters of other books, from book/elsewhere.yml.

``{elsewhere} formal`` and ``{elsewhere} books`` make the tables of the page; `cell` is for the concordance.
"""

import yaml
from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from press import ROOT, ledger
from press.sphinx.tables import link, table

FILE = ROOT / "book" / "elsewhere.yml"


def load():
    """Return the content of book/elsewhere.yml."""
    return yaml.safe_load(FILE.read_text("utf8"))


def proved(identifier):
    """Return the entries under `formal` that name the item."""
    return [entry for entry in load()["formal"] if identifier in entry["items"]]


def address(entry):
    """Return the address of the file at the commit that we read."""
    home = f"https://github.com/{entry['repository']}"
    return f"{home}/blob/{entry['commit']}/{entry['file']}"


def cell(identifier):
    """Return a table cell: the proof system of each such proof, linked to it."""
    found = []
    for entry in proved(identifier):
        found += [
            nodes.Text(", "),
            nodes.reference("", entry["system"], refuri=address(entry)),
        ]
    return found[1:]


class Elsewhere(SphinxDirective):
    """``{elsewhere} formal`` or ``{elsewhere} books``: make one of the two tables."""

    required_arguments = 1

    def run(self):
        self.env.note_dependency(str(FILE))
        data = load()
        if self.arguments[0] == "formal":
            header = ["Item", "Proof", "What it proves, and how that differs"]
            return [table(header, map(self.formal, data["formal"]), ["concordance"])]
        columns = data["books"]["columns"]
        rows = [
            (
                self.links([row["item"]]),
                row["topic"],
                *(row.get(c, "") for c in columns),
            )
            for row in data["books"]["rows"]
        ]
        return [table(["Here", "About", *columns], rows, ["status"])]

    def formal(self, entry):
        """Return the cells of one proof: items, theorem, and how it differs from ours."""
        source = nodes.reference("", entry["repository"], refuri=address(entry))
        proof = [nodes.Text(f"{entry['system']}, "), source, nodes.Text(": ")]
        proof.append(nodes.literal("", entry["theorem"]))
        proves, differs = (
            self.state.inline_text(entry[name], self.lineno)[0] for name in ("proves", "differs")
        )
        ours = nodes.emphasis("", "Compared with ours:")
        says = [*proves, nodes.Text(" "), ours, nodes.Text(" "), *differs]
        return self.links(entry["items"]), proof, says

    def links(self, identifiers):
        """Return the items as links to their places in this book."""
        known = {entry["id"]: entry for entry in ledger.entries(ledger.load())}
        found = []
        for identifier in identifiers:
            entry = known[identifier]
            label = f"{NAMES[identifier.partition('.')[0]]}, {entry['item']}"
            found += [nodes.Text("; "), link("book/" + entry["page"], ledger.anchor(identifier), label)]
        return found[1:]


NAMES = {
    "ox13": "Lecture 13",
    "tel9": "Lecture 9",
    "zin4": "Lecture 4",
    "shi": "Regret bounds",
    "ma17": "Lecture 17",
    "x": "Across",
    "omd": "Mirror descent",
    "ada": "Adaptive steps",
    "o2b": "From online to batch",
    "ban": "Bandits",
    "gam": "Games",
    "bet": "Betting",
}


def setup(app):
    app.add_directive("elsewhere", Elsewhere)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
