# Two commands matter: `make run` and `make test`. Everything is installed into .venv, nothing outside this folder.

PYTHON    ?= python3
PIP_FLAGS ?=
VENV      := .venv
BIN       := $(VENV)/bin
STAMP     := $(VENV)/.installed
SOURCES   := vsr_hallucination training tests

.DEFAULT_GOAL := help
.PHONY: help install run test lint typecheck unit bench docs soak train proto container-test clean
.DELETE_ON_ERROR:

help:  ## what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

install: $(STAMP)  ## create .venv and install what constraints.txt pins (skipped when up to date)

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "Python 3.11 or newer is needed, $(PYTHON) is $$($(PYTHON) -V 2>&1); name another: make PYTHON=python3.12" >&2; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || { \
	  echo "could not create $(VENV): on Debian and Ubuntu, apt-get install python3-venv" >&2; exit 1; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check $(PIP_FLAGS) -c constraints.txt -e '.[dev,demo,docs,eval,postgres,train]'
	@touch $(STAMP)

run: $(STAMP)  ## start Envoy, the filter and a scripted upstream, tour through them, keep serving; ARGS=--once ends after the tour
	@exec $(BIN)/vsr-hallucination demo $(ARGS)

test: lint typecheck unit  ## lint, strict types, all tests with a coverage figure; real Envoy, models and PostgreSQL

unit: $(STAMP)  ## the tests alone; ARGS='tests/wire -x' chooses some
	$(BIN)/python -m pytest -q --cov --cov-report=term $(ARGS)

lint: $(STAMP)  ## ruff
	$(BIN)/ruff check $(SOURCES)

typecheck: $(STAMP)  ## mypy, strict
	$(BIN)/mypy

bench: $(STAMP)  ## what the filter costs, every figure against an alternative in the same run; bench-out/bench.json
	$(BIN)/python -m vsr_hallucination.bench --out bench-out $(ARGS)

docs: $(STAMP)  ## the documentation site, in build/docs
	$(BIN)/mkdocs build --strict --quiet --config-file docs/site/mkdocs.yml

soak: $(STAMP)  ## a million inputs over the client APIs, the evaluator over 10,000 items, a thousand reloads, a large configuration; takes half an hour
	PYTHONPATH=tests $(BIN)/python tests/soak/apis.py $(ARGS)
	PYTHONPATH=tests $(BIN)/python tests/soak/evaluator.py
	PYTHONPATH=tests $(BIN)/python tests/soak/reload.py
	PYTHONPATH=tests $(BIN)/python tests/soak/config_cost.py

QUICK_OUT := training/runs/quick/models
quick      = $(if $(QUICK),$(1) --run quick/$(2) --out $(QUICK_OUT)/$(2))
train: $(STAMP)  ## make the embedded models again from DATA (training/README.md), measure them on DEV; continues where it stopped; TEACHER=directory of all-mpnet-base-v2: the explainer learns from it, too; QUICK=1: every step, on a few rows, beside the shipped ones
	@test -n "$(DATA)" || { echo "say where the training rows are: make train DATA=path/to/train [DEV=path/to/dev]" >&2; exit 2; }
	OMP_WAIT_POLICY=PASSIVE $(BIN)/python -m training.fact_check "$(DATA)" $(ARGS) $(call quick,--rows 600 --epochs 1,fact_check)
	OMP_WAIT_POLICY=PASSIVE $(BIN)/python -m training.detector "$(DATA)" --epochs 2 $(ARGS) $(call quick,--scale 0.03 --steps 8,detector)
	$(BIN)/python -m training.sentence "$(DATA)" $(if $(QUICK),--run quick/detector --model $(QUICK_OUT)/detector --limit 200)
	OMP_WAIT_POLICY=PASSIVE $(BIN)/python -m training.explainer "$(DATA)" --epochs 5 $(ARGS) \
	  --start training/runs/$(if $(QUICK),quick/)detector/checkpoint.pt $(call quick,--steps 8,explainer)
	@test -z "$(TEACHER)" || { OMP_WAIT_POLICY=PASSIVE $(BIN)/python -m training.teacher "$(DATA)" --teacher "$(TEACHER)" && \
	  OMP_WAIT_POLICY=PASSIVE $(BIN)/python -m training.explainer "$(DATA)" --epochs 2 --run explainer-taught \
	  --start training/runs/explainer/checkpoint.pt --taught training/runs/teacher/taught.pt; }
	$(BIN)/python -m training.probe "$(DATA)"
	@test -z "$(DEV)" || for set in ragtruth_qa lfqa_verification halueval_qa; do \
	  $(BIN)/vsr-hallucination eval detector --data "$(DEV)/$$set.jsonl.gz" --out "eval-out/$$set" \
	    $(if $(QUICK),--backend $(QUICK_OUT)/detector) $$(test $$set = halueval_qa && echo --pairs-within 0.2) || exit 1; done

proto: $(STAMP)  ## regenerate the message code under vsr_hallucination/wire/ from proto/
	$(BIN)/python proto/compile.py

container-test: $(STAMP)  ## the tour against the official Envoy container (skipped where no container engine is)
	@sh envoy/container-test.sh $(BIN)/vsr-hallucination

clean:  ## remove what was built, .venv included
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage build dist bench-out .demo
