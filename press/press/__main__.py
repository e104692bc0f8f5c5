"""Run one command: python -m press COMMAND [options]. COMMAND --help shows its options."""

import sys
from importlib import import_module

COMMANDS = {
    "notebooks": (
        "press.pages.notebooks",
        "make and execute the notebooks of the pages and store their outputs",
    ),
    "cases": ("press.pages.judging", "record the test cases that exercises are checked against"),
    "book": ("press.edition", "build an edition of the book (for the full book use make book)"),
    "serve": ("press.serve", "serve the built book on this machine"),
    "sheet": ("press.print.sheet", "print an exercise sheet, with and without solutions"),
    "grade": ("press.grade", "grade a folder of notebooks in a sandbox"),
    "pdf": ("press.print.pdf", "print the whole book"),
    "slides": ("press.print.slides", "make slides for each chapter"),
    "figures": ("press.print.static_figures", "draw the interactive figures for print"),
    "runtime": ("press.js.runtime", "download and assemble Python for the browser"),
    "bench": ("press.record.bench", "time ocolib against its limits and other libraries"),
    "phases": ("press.record.phases", "play the grid of the phase diagrams"),
    "cluster": ("press.record.cluster", "play a small grid on a dask cluster"),
}


def main(arguments):
    """Run the command named by the first argument with the other arguments; return its exit code."""
    name, *rest = arguments or ["--help"]
    if name not in COMMANDS:
        print(__doc__, *(f"  {name:<10} {says}" for name, (_, says) in COMMANDS.items()), sep="\n")
        return 0 if name in ("-h", "--help") else 2
    sys.argv[0] = f"python -m press {name}"  # shown in usage messages
    try:
        return import_module(COMMANDS[name][0]).main(rest)
    except KeyboardInterrupt:  # Ctrl-C, perhaps while the imports run
        raise SystemExit("Interrupted.") from None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
