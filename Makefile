# Every target sets up its own environment in .venv; only Python 3.11 or newer and make are needed.
PYTHON ?= python3
BIN := .venv/bin
PAGES := $(shell find book -name '*.ipynb' -not -path '*/.ipynb_checkpoints/*' 2>/dev/null)
PORT ?= 8000

# One thread for each process: steps run side by side, and results do not depend on the machine.
export OPENBLAS_NUM_THREADS := 1
export OMP_NUM_THREADS := 1
export PYTHONHASHSEED := 0
unexport PYTHONPATH

.PHONY: help book test serve notebooks lock clean lint unit pages browser
.NOTPARALLEL:
.DEFAULT_GOAL := help

help:
	@echo "make book        build the book into _build/html"
	@echo "make serve       build it and serve it on http://localhost:$(PORT)"
	@echo "make test        check everything: style, code, pages, the book in a browser"
	@echo "make notebooks   execute every page again and store what it shows"
	@echo "make lock        resolve requirements.in into requirements.txt"
	@echo "make clean       delete what was built (not .venv)"

.venv/.installed: requirements.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Python 3.11 or newer is needed; $(PYTHON) is $$($(PYTHON) --version). Try: make PYTHON=python3.12"; exit 1; }
	@echo "Setting up .venv (once; a minute or two)"
	@if command -v uv >/dev/null; then \
	  test -d .venv || uv venv --quiet --python $(PYTHON) .venv; \
	  uv pip install --python $(BIN)/python -r requirements.txt && \
	  uv pip install --python $(BIN)/python --quiet --no-deps -e .; \
	else \
	  test -x $(BIN)/pip || $(PYTHON) -m venv .venv; \
	  $(BIN)/python -m pip install --quiet --upgrade pip && \
	  $(BIN)/python -m pip install --progress-bar off -r requirements.txt && \
	  $(BIN)/python -m pip install --quiet --no-deps -e .; \
	fi
	@touch $@

book: .venv/.installed
	@# a failed build forgets what it read: the next one must warn again
	$(BIN)/jupyter-book build . -W -n --keep-going || { rm -rf _build/.doctrees; exit 1; }
	@echo
	@echo "The book:  $(CURDIR)/_build/html/index.html   (or: make serve)"

serve: book
	@echo "Serving on http://localhost:$(PORT)  (Ctrl-C stops)"
	@$(BIN)/python -m http.server $(PORT) --bind localhost --directory _build/html

notebooks: .venv/.installed
	$(BIN)/python tools/notebooks.py run

test: lint unit pages book browser

lint: .venv/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

unit: .venv/.installed
	$(BIN)/python -m pytest -n 2 -m "not browser"

pages: .venv/.installed
	$(BIN)/python -m pytest -n 2 --dist loadscope --nbval --nbval-current-env -W default $(PAGES)

browser: book
	$(BIN)/python -m pytest -m browser tests/browser -v -rs

lock: .venv/.installed
	@$(BIN)/python -c 'import uv' 2>/dev/null || $(BIN)/python -m pip install --quiet uv || uv pip install --quiet --python $(BIN)/python uv
	$(BIN)/python -m uv pip compile requirements.in --universal --python-version 3.11 \
	  --no-emit-index-url --quiet --custom-compile-command "make lock" -o requirements.txt

clean:
	rm -rf _build .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -not -path './.venv/*' -prune -exec rm -rf {} +
