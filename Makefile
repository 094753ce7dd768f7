# `make demo` and `make test` each set up what they need.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
NATIVE := CMakeLists.txt $(wildcard hw/core/* synth/native/* verify/native/*)

.PHONY: demo test lint types setup specs bench bench-smoke sanitize clean lock
demo: setup
	@$(BIN)/python -m certree.cli.demo

test: setup
	$(BIN)/pytest -q -n 2

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

# mypy reads a package folder, not an editable install: give it one made of links.
types: setup
	@mkdir -p build/typing/certree
	@for part in models synth verify specs hw cli; do ln -sfn ../../../$$part build/typing/certree/$$part; done
	@touch build/typing/certree/__init__.py build/typing/certree/py.typed
	MYPYPATH=build/typing $(BIN)/mypy -p certree

specs: setup
	$(BIN)/certree model-check
	$(BIN)/certree model-check --symbolic

bench: setup
	$(BIN)/python tests/bench/run.py

bench-smoke: setup
	$(BIN)/python tests/bench/run.py --smoke

# The simulator core under AddressSanitizer and UBSan. Leaks are not looked for: Python itself keeps memory to its end.
sanitize: setup
	@cmake -S . -B build/sanitize -DCERTREE_SANITIZE=ON -DCMAKE_BUILD_TYPE=Debug -DPython_EXECUTABLE=$(abspath $(BIN)/python) >/dev/null
	@cmake --build build/sanitize --target _core -j 2 >/dev/null
	LD_PRELOAD="$$($(CXX) -print-file-name=libasan.so) $$($(CXX) -print-file-name=libubsan.so)" ASAN_OPTIONS=detect_leaks=0 \
	  UBSAN_OPTIONS=halt_on_error=1 $(BIN)/python -m tests.hw.sanitized build/sanitize

setup: $(VENV)/.installed

$(VENV)/.locked: requirements.lock
	@echo "setting up $(VENV) (once, about a minute)"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/pip install -q --disable-pip-version-check --require-hashes -r requirements.lock
	@touch $@

# Editable: Python is served from this folder; a change of the native code or of pyproject.toml installs again.
$(VENV)/.installed: $(VENV)/.locked pyproject.toml $(NATIVE)
	@CMAKE_BUILD_PARALLEL_LEVEL=2 $(BIN)/pip install -q --disable-pip-version-check --no-build-isolation --no-deps -e .
	@touch $@

# Regenerates requirements.lock from pyproject.toml (needs pip-tools).
lock:
	$(BIN)/pip-compile -q --extra dev --build-deps-for wheel --strip-extras --generate-hashes --allow-unsafe \
	  --no-emit-index-url --no-emit-find-links --no-emit-trusted-host --output-file requirements.lock pyproject.toml

clean:
	rm -rf $(VENV) build
