# Needs Python 3.11 or newer and make (any, also the 3.81 of macOS); everything else goes into .venv.
.DEFAULT_GOAL := help
MAKEFLAGS += --no-builtin-rules

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
EXAMPLE := examples/hack-lazy-s30
REPORTS ?= reports
ARCHIVE ?= archive

# The first interpreter that runs and is new enough; `make PYTHON=/path/to/python3.11` overrides it.
FIND_PYTHON = for python in $(PYTHON) python3.11 python3 python3.12 python3.13; do \
    if "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then break; fi; python=; done; \
    if [ -z "$$python" ]; then echo "Python 3.11 or newer was not found; name it: make PYTHON=/path/to/python3.11" >&2; exit 1; fi

.PHONY: help demo test lint format bench bench-detection bench-calibration calibration-quick lock clean

help:
	@echo "make demo    gate the example run: its reward doubles, and the held-out evaluation says that it got worse"
	@echo "make test    run the tests"
	@echo "make lint    check style and types"
	@echo "make format  apply the style"
	@echo "make bench   run the benchmarks"
	@echo "make bench-detection   measure how often the findings are right, and write docs/detection.md"
	@echo "make bench-calibration   measure whether the intervals keep what they promise, and write docs/calibration.md"
	@echo "make calibration-quick   the same with few draws, written nowhere"
	@echo "make lock    renew requirements.lock from the ranges in pyproject.toml"
	@echo "make clean   remove .venv, caches and builds; archive and reports stay"

$(STAMP): requirements.lock pyproject.toml
	@$(FIND_PYTHON); "$$python" -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	touch $@

# 0, 1 and 2 are verdicts (this one is REJECT, 1); only 3 means that there is none.
demo: $(STAMP)
	@code=0; \
	$(BIN)/rlchecks gate $(EXAMPLE) --run-id hack-lazy-s30 --archive $(ARCHIVE) --reports $(REPORTS) \
	    --heldout $(EXAMPLE)/eval/base.parquet --heldout $(EXAMPLE)/eval/checkpoint-100.parquet || code=$$?; \
	case $$code in \
	    0|1|2) echo "Report: $(REPORTS)/hack-lazy-s30/checkpoint-100/verdict.html (the gate's exit code: $$code)" ;; \
	    *) echo "The gate could not run (exit code $$code)." >&2; exit 3 ;; \
	esac

test: $(STAMP)
	$(BIN)/pytest $(TESTS)

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pyright

format: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(STAMP)
	@for benchmark in $(sort $(wildcard benchmarks/bench_*.py)); do \
	    echo "== $$benchmark"; $(BIN)/python "$$benchmark" || exit 1; \
	done

# The other programs are compared where they can be installed; the tables of docs/detection.md are written anew.
bench-detection: $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[competitors]'
	$(BIN)/python -m benchmarks.detection --write

bench-calibration: $(STAMP)
	$(BIN)/python -m benchmarks.calibration --write

calibration-quick: $(STAMP)
	$(BIN)/python -m benchmarks.calibration --quick

lock:
	@$(FIND_PYTHON); \
	set -e; scratch=$$(mktemp -d); trap 'rm -rf "$$scratch"' EXIT; \
	"$$python" -m venv "$$scratch/venv"; \
	"$$scratch/venv/bin/pip" install --quiet --disable-pip-version-check --editable '.[inspect,minhash,test,lint]'; \
	head -n 1 requirements.lock > "$$scratch/lock"; \
	"$$scratch/venv/bin/pip" freeze --exclude-editable >> "$$scratch/lock"; \
	cp "$$scratch/lock" requirements.lock

clean:
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -not -path './.git/*' -prune -exec rm -rf {} +
