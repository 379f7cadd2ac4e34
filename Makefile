# Needs Python 3, make and (for inductor, torch.compile's default backend) a C++ compiler; all else goes into .venv.
# Every target works again without a network once its packages are installed: the stamps in .venv hold what was
# installed for which pyproject.toml.

PYTHON ?= python3
# Which PyTorch. On a machine without a GPU, PIP_EXTRA_INDEX_URL can name an index of CPU builds.
TORCH ?= torch==2.13.0
VENV := .venv
RUN := $(VENV)/bin/python
PIP := $(RUN) -m pip install -q --disable-pip-version-check
KEY := $(shell cat pyproject.toml | cksum | cut -d' ' -f1)
TORCH_KEY := $(shell printf '%s' '$(TORCH)' | cksum | cut -d' ' -f1)

BASE_STAMP := $(VENV)/.base-$(KEY)
TORCH_STAMP := $(VENV)/.torch-$(TORCH_KEY)
TEST_STAMP := $(VENV)/.test-$(KEY)-$(TORCH_KEY)
LINT_STAMP := $(VENV)/.lint-$(KEY)
PEER := .venvs/peer

.PHONY: help demo test test-fast lint format bench matrix compare compiler clean

help:
	@echo "make demo      run the README's example; writes ./dump_src_dir"
	@echo "make test      all tests (make test-fast: those without torch)"
	@echo "make lint      ruff and mypy"
	@echo "make bench     decompile the standard library sample, and measure the overhead of capture"
	@echo "make matrix    the decompiler's tests under every Python found"
	@echo "make compare   the standard library sample beside depyf 0.20.0"

$(RUN):
	$(PYTHON) -m venv $(VENV)

$(BASE_STAMP): | $(RUN)
	$(PIP) -e .
	@touch $@

# torch first and alone, so that no other requirement chooses another build of it.
$(TORCH_STAMP): | $(RUN)
	$(PIP) '$(TORCH)'
	@rm -f $(VENV)/.torch-* && touch $@

$(TEST_STAMP): $(TORCH_STAMP) $(BASE_STAMP)
	$(PIP) '$(TORCH)' numpy transformers pytest pytest-timeout hypothesis
	@touch $@

$(LINT_STAMP): $(BASE_STAMP)
	$(PIP) $$($(RUN) tools/requirements.py dev ruff mypy)
	@touch $@

compiler:
	@command -v $${CXX:-g++} >/dev/null || command -v clang++ >/dev/null || \
	  { echo "No C++ compiler found: torch.compile's default backend (inductor) needs one, e.g. g++."; exit 1; }

demo: compiler $(TORCH_STAMP) $(BASE_STAMP)
	$(RUN) examples/demo.py

test: compiler $(TEST_STAMP)
	$(RUN) -m pytest

test-fast: $(TEST_STAMP)
	$(RUN) -m pytest -m 'not torch'

lint: $(LINT_STAMP)
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .
	$(RUN) -m mypy

format: $(LINT_STAMP)
	$(RUN) -m ruff check --fix .
	$(RUN) -m ruff format .

bench: compiler $(TEST_STAMP)
	$(RUN) bench/stdlib.py --floor 95 --max-seconds 1
	$(RUN) bench/overhead.py

matrix:
	$(PYTHON) tools/matrix.py

$(PEER)/bin/python:
	$(PYTHON) -m venv $(PEER)

$(PEER)/.depyf-0.20.0: | $(PEER)/bin/python
	$(PEER)/bin/python -m pip install -q --disable-pip-version-check depyf==0.20.0
	@touch $@

compare: $(BASE_STAMP) $(PEER)/.depyf-0.20.0
	$(RUN) bench/stdlib.py --peer $(PEER)/bin/python --floor 95 --max-seconds 1 --max-ratio 0.1 \
	  --write bench/results/stdlib.md

clean:
	rm -rf $(VENV) .venvs build dist dump_src_dir .bench .pytest_cache .mypy_cache .ruff_cache
