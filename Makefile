# Every target sets up its own environment in .venv; only Python 3.11 or newer and make are needed.
PYTHON ?= python3
OLDEST ?= python3.11
BIN := .venv/bin
PAGES := $(shell find book -name '*.ipynb' -not -path '*/.ipynb_checkpoints/*' 2>/dev/null)
PORT ?= 8000

# One thread for each process: steps run side by side, and results do not depend on the machine.
export OPENBLAS_NUM_THREADS := 1
export OMP_NUM_THREADS := 1
export PYTHONHASHSEED := 0
unexport PYTHONPATH
unexport PYTHONDONTWRITEBYTECODE # every kernel would compile all it imports again

.PHONY: help book test test-all serve notebooks lock clean lint unit pages browser long oldest newest certificates phases cluster grade bench
.NOTPARALLEL:
.DEFAULT_GOAL := help

help:
	@echo "make book        build the book into _build/html"
	@echo "make serve       build it and serve it on http://localhost:$(PORT)"
	@echo "make test        check everything: style, code, pages, the book in a browser"
	@echo "make test-all    the same, what takes longer, and the oldest and newest packages"
	@echo "make notebooks   execute every page again and store what it shows"
	@echo "make certificates  make the certificates of the limits again"
	@echo "make grade SUBMISSIONS=folder   grade notebooks, into _build/grades"
	@echo "make phases      play the recorded grid of games again (page: phase diagrams)"
	@echo "make cluster     play a small grid on a dask cluster: your own, or SCHEDULER=tcp://host:8786"
	@echo "make bench       time it against its bars and its peers, and record the table of the book"
	@echo "make lock        resolve requirements.in into requirements.txt"
	@echo "make clean       delete what was built (not .venv)"

# $(call install,folder,what): into an environment that is made if it is not there
define install
if command -v uv >/dev/null; then \
  { test -d $(1) || uv venv --quiet --python $(PYTHON) $(1); } && uv pip install --python $(1)/bin/python $(2); \
else \
  { test -d $(1) || { $(PYTHON) -m venv $(1) && $(1)/bin/python -m pip install --quiet --upgrade pip; }; } && \
  $(1)/bin/python -m pip install --progress-bar off $(2); \
fi
endef

.venv/.installed: requirements.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Python 3.11 or newer is needed; $(PYTHON) is $$($(PYTHON) --version). Try: make PYTHON=python3.12"; exit 1; }
	@echo "Setting up .venv (once; a minute or two)"
	@$(call install,.venv,-r requirements.txt)
	@$(call install,.venv,--quiet --no-deps -e .)
	@touch $@

book: .venv/.installed
	@# a failed build forgets what it read: the next one must warn again
	$(BIN)/jupyter-book build . -W -n --keep-going || { rm -rf _build/.doctrees; exit 1; }
	@echo
	@echo "The book:  $(CURDIR)/_build/html/index.html   (or: make serve)"

serve: book
	@$(BIN)/python tools/serve.py $(PORT)

notebooks: .venv/.installed
	$(BIN)/python tools/notebooks.py run

test: lint unit pages book browser

test-all: test long oldest newest

lint: .venv/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

unit: .venv/.installed
	$(BIN)/python -m pytest -n 2 -m "not browser and not long"

pages: .venv/.installed
	$(BIN)/python -m pytest -n 2 --dist loadscope --no-loadscope-reorder --nbval --nbval-current-env -W default $(PAGES)

browser: book
	$(BIN)/python -m pytest -n 2 -m "browser and not long" tests/browser -rs

long: book
	$(BIN)/python -m pytest -n 2 -m long tests -rs || [ $$? = 5 ] # 5: there is none

# The oldest NumPy that pyproject.toml allows, which knows no Python after 3.11.
oldest: PYTHON = $(OLDEST)
oldest:
	@$(call install,.venv-oldest,--quiet "numpy==1.25.*" -e ".[test]")
	.venv-oldest/bin/python -m pytest -n 2 -m "not browser and not long"

newest:
	@$(call install,.venv-newest,--quiet --upgrade -r requirements.in -e .)
	.venv-newest/bin/python -m pytest -n 2 -m "not browser and not long"

# Six processor minutes, on x86: long double decides how close the enclosures are.
certificates: .venv/.installed
	$(BIN)/python tools/certify.py

# In an environment of its own: the peers are many.
bench:
	@$(call install,.venv-bench,--quiet -c requirements.txt -e ".[bench]")
	.venv-bench/bin/python tools/bench.py --record

grade: .venv/.installed
	@test -n "$(SUBMISSIONS)" || { echo "Say where the notebooks are: make grade SUBMISSIONS=folder"; exit 1; }
	$(BIN)/python tools/grade.py "$(SUBMISSIONS)" $(if $(NETWORK),--network $(NETWORK))

phases: .venv/.installed
	$(BIN)/python tools/phases.py

cluster: .venv/.installed
	$(BIN)/python tools/cluster.py $(SCHEDULER)

# $(call resolve,name): name.in into name.txt, complete, for every Python we support, each file with its checksum
resolve = $(BIN)/python -m uv pip compile $(1).in --universal --python-version 3.11 --generate-hashes \
  --no-emit-index-url --quiet --custom-compile-command "make lock" -o $(1).txt

lock: .venv/.installed
	@$(BIN)/python -c 'import uv' 2>/dev/null || $(BIN)/python -m pip install --quiet uv || uv pip install --quiet --python $(BIN)/python uv
	$(call resolve,requirements)
	$(call resolve,requirements-lab)

clean:
	rm -rf _build .pytest_cache .ruff_cache .mypy_cache .hypothesis
	find . -name __pycache__ -not -path './.venv*/*' -prune -exec rm -rf {} +
