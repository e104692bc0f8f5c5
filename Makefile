# Every target creates the environment in .venv if needed; you need only Python 3.11 or newer and make.
PYTHON ?= python3
OLDEST ?= python3.11
BIN := .venv/bin
PAGES := $(shell find book -name '*.ipynb' -not -path '*/.ipynb_checkpoints/*' 2>/dev/null)
PORT ?= 8000
PIP := 25.3

# One thread per process: targets run in parallel, and results do not depend on the number of cores.
export OPENBLAS_NUM_THREADS := 1
export OMP_NUM_THREADS := 1
export PYTHONHASHSEED := 0
unexport PYTHONPATH
unexport PYTHONDONTWRITEBYTECODE # otherwise every kernel compiles all its imports again

.PHONY: help book test test-all serve notebooks times lock clean lint unit live pages browser long oldest newest certificates phases parallel cluster grade lab sheet pdf slides bench formal formal-again
ifndef TWO_AT_A_TIME
.NOTPARALLEL:
endif
.DEFAULT_GOAL := help

help:
	@echo "make book        build the book into _build/html"
	@echo "make book EDITION=student   without worked solutions, into _build/student/html (appendix: all at the end)"
	@echo "make book COURSE=course.yml   a book of some pages, into _build/course/html"
	@echo "make serve       build the book and serve it on http://localhost:$(PORT)"
	@echo "make test        check everything: style, code, pages, the book in a browser"
	@echo "make test-all    the same, the long tests, and the oldest and newest packages"
	@echo "make notebooks   execute every page and store its outputs"
	@echo "make times       the same one by one, and record the time of each page for the status page"
	@echo "make certificates  recompute the certificates of the limits"
	@echo "make formal      check the theorems and certificates with the proof assistant Coq"
	@echo "make grade SUBMISSIONS=folder ASSIGNMENT=assignment.yml   grade notebooks, into _build/grades (needs bubblewrap)"
	@echo "make sheet LECTURE=13   an exercise sheet, without and with solutions, into _build/sheets (COURSE=course.yml: for a part of that course)"
	@echo "make lab         open JupyterLab on the pages"
	@echo "make pdf         print the whole book into _build/pdf (CHAPTER=lecture-13-oco: a chapter; EDITION, COURSE as above)"
	@echo "make slides      make slides for each chapter, into _build/slides"
	@echo "make phases      play and record the grid of games of the page on phase diagrams"
	@echo "make parallel    run and record the parallel SVM on real processes"
	@echo "make cluster     play a small grid on a dask cluster: your own, or SCHEDULER=tcp://host:8786"
	@echo "make bench       time the library against its limits and others, and record the table of the book"
	@echo "make lock        resolve requirements.in into requirements.txt"
	@echo "make clean       delete what was built (not .venv)"

# $(call install,folder,packages): install packages into an environment, which is created if needed
define install
if command -v uv >/dev/null; then \
  { test -d $(1) || uv venv --quiet --seed --python $(PYTHON) $(1); } && uv pip install --python $(1)/bin/python $(2); \
else \
  { test -d $(1) || { $(PYTHON) -m venv $(1) && $(1)/bin/python -m pip install --quiet pip==$(PIP); }; } && \
  $(1)/bin/python -m pip install --progress-bar off $(2); \
fi || { echo "The packages could not be installed into $(1): the lines above say why. They come from a package index (PyPI, or"; \
  echo "the one in UV_INDEX_URL or PIP_INDEX_URL), so a network is needed once, and 2 GB of disk. Then run make again."; exit 1; }
endef

# A complete environment names its folder in .installed. One that was moved, interrupted or lost its Python is stale.
HOME_OF_VENV := $(shell .venv/bin/python -c '' 2>/dev/null && cat .venv/.installed 2>/dev/null)
ifneq ($(HOME_OF_VENV),$(CURDIR))
.PHONY: .venv/.installed
endif

.venv/.installed: requirements.txt pyproject.toml press/pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
	  { echo "Python 3.11 or newer is needed; $(PYTHON) is $$($(PYTHON) --version 2>&1). Try: make PYTHON=python3.12"; exit 1; }
	@test "$(HOME_OF_VENV)" = "$(CURDIR)" || { test ! -e .venv || echo "Making .venv again: it is incomplete, or belongs to another folder or Python"; rm -rf .venv; }
	@echo "Setting up .venv (once; a minute or two)"
	@$(call install,.venv,-r requirements.txt)
	@$(call install,.venv,--quiet --no-deps --no-build-isolation -e . -e press)
	@echo "$(CURDIR)" > $@

# An edition, a course, or both get their own folder in _build.
NAME := $(basename $(notdir $(COURSE)))$(if $(and $(COURSE),$(EDITION)),-)$(EDITION)

ifneq ($(NAME),)
book: .venv/.installed
	$(BIN)/python -m press book $(EDITION) $(if $(COURSE),--course "$(COURSE)")
else
book: .venv/.installed
	@# after a failed or killed build, start from scratch, so that all warnings appear again
	@test ! -e _build/.unfinished || rm -rf _build/.doctrees _build/html
	@mkdir -p _build && touch _build/.unfinished || { echo "The book cannot be written: make room in $(CURDIR)/_build, or make it writable"; exit 1; }
	$(BIN)/jupyter-book build . -W -n --keep-going || \
	  { echo "The book was not built: the lines above say why. (Disk full? \`df -h .\` says how much is left.)"; exit 1; }
	@rm _build/.unfinished
	@echo
	@echo "The book:  $(CURDIR)/_build/html/index.html   (or: make serve)"
endif

serve: book
	@$(BIN)/python -m press serve $(PORT) $(if $(NAME),_build/$(NAME)/html)

notebooks: .venv/.installed
	$(BIN)/python -m press notebooks

times: .venv/.installed
	$(BIN)/python -m press notebooks --times

# Style, proofs and the book use one core each, so two of them run at once; the other steps use two cores.
test: .venv/.installed
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=target TWO_AT_A_TIME=1 book lint formal
	@$(MAKE) --no-print-directory BUILT=1 unit live pages browser

test-all: test long formal-again oldest newest

lint: .venv/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Three processes on two cores: tests of grading spend half their time waiting.
unit: .venv/.installed
	$(BIN)/python -m pytest -p no:nbval -n 3 --dist worksteal --ignore tests/browser -m "not browser and not long and not live"

# What a reader can run in the browser, tested with NumPy only: cells, figures, answers
live: .venv/.installed
	$(BIN)/python -m pytest -n 2 --dist worksteal -m live $$(grep -l "pytest.mark.live" tests/press/*.py)

# About one minute of CPU time, later only what has changed. Without Coq 8.16 it prints a clear message.
formal: .venv/.installed
	$(BIN)/python formal/check.py

# Check again with coqchk, Coq's independent checker
formal-again: .venv/.installed
	$(BIN)/python formal/check.py --coqchk

pages: .venv/.installed
	$(BIN)/python -m pytest -n 2 --dist loadscope --no-loadscope-reorder --nbval --nbval-current-env --nbval-cell-timeout 300 -W default $(PAGES)

# A file goes to one process, which makes a deck, a PDF or a small book once; the order is that of conftest.py there.
browser: $(if $(BUILT),,book)
	$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder -m "browser and not long" tests/browser -rs

long: book
	$(BIN)/python -m pytest -n 2 -m long tests -rs || [ $$? = 5 ] # exit code 5: no test was collected

# The oldest NumPy that pyproject.toml allows; it supports Python up to 3.11.
oldest: PYTHON = $(OLDEST)
oldest:
	@$(call install,.venv-oldest,--quiet "numpy==1.25.*" -r requirements.in -e . -e press)
	.venv-oldest/bin/python -m pytest -n 2 -m "not browser and not long"

newest:
	@$(call install,.venv-newest,--quiet --upgrade -r requirements.in -e . -e press)
	.venv-newest/bin/python -m pytest -n 2 -m "not browser and not long"

# Six minutes of CPU time. Needs x86: the width of the enclosures depends on long double.
certificates: .venv/.installed
	$(BIN)/python -m ocolab.certify

# In its own environment, because the other libraries are many. One line of the table times rebuilding the book.
bench: book
	@# the versions of the lock file without hashes, because pip cannot install a local folder with hashes
	@sed -n 's/^\([A-Za-z0-9].*==.*\) \\$$/\1/p' requirements.txt > _build/constraints.txt
	@$(call install,.venv-bench,--quiet -c _build/constraints.txt -e ".[bench]" -e press)
	.venv-bench/bin/python -m press bench --record

grade: .venv/.installed
	@test -n "$(SUBMISSIONS)" || { echo "Say where the notebooks are: make grade SUBMISSIONS=folder ASSIGNMENT=assignment.yml"; exit 1; }
	$(BIN)/python -m press grade "$(SUBMISSIONS)" $(if $(ASSIGNMENT),--assignment "$(ASSIGNMENT)") $(if $(INTO),--into "$(INTO)")

sheet: .venv/.installed
	@test -n "$(LECTURE)$(ASSIGNMENT)" || { echo "Say which: make sheet LECTURE=13, or make sheet ASSIGNMENT=assignment.yml"; exit 1; }
	$(BIN)/python -m press sheet "$(or $(ASSIGNMENT),$(LECTURE))" $(if $(EDITION),--edition $(EDITION)) $(if $(COURSE),--course "$(COURSE)")

.venv/.lab: .venv/.installed requirements-lab.txt
	@$(call install,.venv,-r requirements-lab.txt)
	@touch $@

lab: .venv/.lab
	$(BIN)/jupyter lab --LabApp.default_url=/lab/tree/book
pdf: book
	$(BIN)/python -m press pdf $(CHAPTER) $(if $(NAME),--edition "$(NAME)")

slides: book
	$(BIN)/python -m press slides $(CHAPTER) $(if $(NAME),--edition "$(NAME)")

phases: .venv/.installed
	$(BIN)/python -m press phases

parallel: .venv/.installed
	$(BIN)/python book/scale/parallel_svm.py

cluster: .venv/.installed
	$(BIN)/python -m press cluster $(SCHEDULER)

# $(call resolve,name): resolve name.in into name.txt for all supported Python versions, with hashes
resolve = $(BIN)/python -m uv pip compile $(1).in --universal --python-version 3.11 --generate-hashes \
  --no-emit-index-url --quiet --custom-compile-command "make lock" -o $(1).txt

lock: .venv/.installed
	@$(BIN)/python -c 'import uv' 2>/dev/null || $(BIN)/python -m pip install --quiet uv || uv pip install --quiet --python $(BIN)/python uv
	$(call resolve,requirements)
	$(call resolve,requirements-lab)

clean:
	rm -rf _build .pytest_cache .ruff_cache .mypy_cache .hypothesis
	find . -name __pycache__ -not -path './.venv*/*' -prune -exec rm -rf {} +
