"""List machine-checked proofs by others and related chapters of other books, from book/elsewhere.yml.

``{elsewhere} formal`` and ``{elsewhere} books`` are the tables of the page.
`cell(identifier)` is for the concordance: links to the machine-checked proofs.
"""

import yaml
from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from press import ledger
from press.sphinx.tables import link, table

FILE = ledger.ROOT / "book" / "elsewhere.yml"


def load():
    return yaml.safe_load(FILE.read_text("utf8"))


def proved(identifier):
    """The entries under `formal` that name the item."""
    return [entry for entry in load()["formal"] if identifier in entry["items"]]


def address(entry):
    """The file as it was read."""
    home = f"https://github.com/{entry['repository']}"
    return f"{home}/blob/{entry['commit']}/{entry['file']}"


def cell(identifier):
    """A table's cell: the system of each such proof, linked to it."""
    found = []
    for entry in proved(identifier):
        found += [
            nodes.Text(", "),
            nodes.reference("", entry["system"], refuri=address(entry)),
        ]
    return found[1:]


class Elsewhere(SphinxDirective):
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
        """The items, each a link to its place in this book."""
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
