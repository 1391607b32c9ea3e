# Every target does all of its own set-up; PYTHON names another interpreter than python3.
PYTHON ?= python3
BIN := .venv/bin
TORCH := torch==2.13.0
.DEFAULT_GOAL := help
.PHONY: help setup setup-backup setup-hub setup-readers demo run serve test test-readers lint bench rehearse requirements clean

help:
	@echo "make demo      a dataset from nothing: a small collection, simulated workers, a release"
	@echo "make run       the site, with a sample collection to try in a browser"
	@echo "make serve     for a network: DOMAIN=lab.example make serve (docs/operator.md)"
	@echo "make test      lint, types, and the whole suite on SQLite and on PostgreSQL"
	@echo "make setup-readers, make test-readers  torch, and the tests of what is trained with it"
	@echo "make setup-backup  Barman, which keeps PostgreSQL's part of copies"
	@echo "make setup-hub  what export_dataset --push-to-hub needs"
	@echo "make bench     speed, as ratios against named references"
	@echo "make rehearse  crowds, competitors and kills; takes long"

.venv/made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	  || { echo "Python 3.11 or later is missing: install it, or name it with PYTHON=…"; exit 1; }
	@$(PYTHON) -m venv .venv 2>/dev/null \
	  || { echo "Python's venv module is missing: install it (on Debian: python3-venv)."; exit 1; }
	@touch $@

.venv/installed: requirements.txt | .venv/made
	@echo "Installing what Collector needs (once) …"
	@$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements.txt
	@touch $@

.venv/installed-dev: requirements-dev.txt .venv/installed
	@echo "Installing what the tests need (once) …"
	@$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.txt
	@touch $@

# Of torch the build differs by machine (with or without a GPU): it alone has no hash.
.venv/installed-readers: requirements-readers.txt .venv/installed
	@echo "Installing what trains readers (once; torch is large) …"
	@$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements-readers.txt
	@$(BIN)/pip install --quiet --disable-pip-version-check $(TORCH)
	@touch $@

.venv/installed-readers-dev: requirements-readers-dev.txt .venv/installed-dev .venv/installed-readers
	@$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes --no-deps -r requirements-readers-dev.txt
	@touch $@

.venv/installed-hub: requirements-hub.txt .venv/installed
	@$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements-hub.txt
	@touch $@

.barman/installed: requirements-backup.txt
	@$(PYTHON) -m venv .barman
	@.barman/bin/pip install --quiet --disable-pip-version-check --require-hashes --no-deps -r requirements-backup.txt
	@touch $@

setup: .venv/installed

setup-backup: .venv/installed .barman/installed

setup-hub: .venv/installed-hub

setup-readers: .venv/installed-readers

# PROTOCOL=quac shows the live dialogs, PROTOCOL=hotpotqa questions about pairs, PROTOCOL=bookqa
# questions about stories, PROTOCOL=squad what a passage answers and what it only seems to,
# PROTOCOL=rag questions over documents, their answers found by search.
PROTOCOL ?= iirc
demo: .venv/installed
	@rm -rf var/demo releases/demo-$(PROTOCOL)
	@COLLECTOR_HOME=var/demo $(BIN)/python manage.py demo --protocol $(PROTOCOL)

run: .venv/installed
	@$(BIN)/python manage.py run --sample

# Containers bring everything; with databases given, or without Docker, it is plain processes.
DOCKER = $(shell docker compose version >/dev/null 2>&1 && echo yes)
PLAIN = $(or $(ONLY)$(DATABASE_URL)$(MARKETPLACE_DATABASE_URL),$(if $(DOCKER),,yes))
serve: $(if $(filter serve,$(MAKECMDGOALS)),$(if $(PLAIN),.venv/installed))
	@exec $(if $(PLAIN),$(BIN)/python manage.py serve $(if $(ONLY),--only $(ONLY)),\
	  deploy/containers.sh up --detach --build --remove-orphans)

test: .venv/installed-dev
	@$(BIN)/python -m tests

test-readers: .venv/installed-readers-dev
	@$(BIN)/python -m tests --readers

lint: .venv/installed-dev
	@$(BIN)/python -m tests --lint

bench: .venv/installed-dev
	@$(BIN)/python -m deploy.benchmarks --peers

rehearse: .venv/installed-dev
	@$(BIN)/python -m tests --rehearse

# Torch and what its builds for GPUs bring along.
BESIDE_TORCH := torch triton cuda-bindings cuda-pathfinder cuda-toolkit nvidia-cublas \
  nvidia-cuda-cupti nvidia-cuda-nvrtc nvidia-cuda-runtime nvidia-cudnn-cu13 nvidia-cufft \
  nvidia-cufile nvidia-curand nvidia-cusolver nvidia-cusparse nvidia-cusparselt-cu13 \
  nvidia-nccl-cu13 nvidia-nvjitlink nvidia-nvshmem-cu13 nvidia-nvtx

# Locks what pyproject.toml names; needs uv.
requirements:
	uv pip compile -q --universal --generate-hashes -p 3.11 pyproject.toml -o requirements.txt \
	  --custom-compile-command "make requirements"
	uv pip compile -q --universal --generate-hashes -p 3.11 pyproject.toml --extra dev \
	  -c requirements.txt -o requirements-dev.txt --custom-compile-command "make requirements"
	uv pip compile -q --universal --generate-hashes -p 3.11 pyproject.toml --extra readers \
	  -c requirements.txt -c requirements-dev.txt -o requirements-readers.txt \
	  $(BESIDE_TORCH:%=--no-emit-package %) --custom-compile-command "make requirements"
	uv pip compile -q --universal --generate-hashes -p 3.11 pyproject.toml --extra hub \
	  -c requirements.txt -c requirements-dev.txt -o requirements-hub.txt \
	  --custom-compile-command "make requirements"
	uv pip compile -q --universal --generate-hashes -p 3.11 --no-deps \
	  --group pyproject.toml:backup -c requirements.txt -o requirements-backup.txt \
	  --custom-compile-command "make requirements"
	uv pip compile -q --universal --generate-hashes -p 3.11 --no-deps \
	  --group pyproject.toml:readers-dev -o requirements-readers-dev.txt \
	  --custom-compile-command "make requirements"

clean:
	rm -rf .venv .barman var
