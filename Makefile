# `make demo` and `make test` each set up what they need.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
NATIVE := CMakeLists.txt $(shell find hw/core models/native synth/native verify/native -name '*.?pp' -o -name CMakeLists.txt)
CPP    := $(shell find hw/core models/native synth/native verify/native tests/hw/core tests/rtl/driver -name '*.?pp')

.PHONY: demo test coverage browser-test fuzz fuzz-smoke lint types wheel-test docs setup pages rtl rtl-smoke proofs specs models symbolic verify-all veripb bench bench-smoke bench-history race core-tests sanitize clean lock
demo: setup
	@$(BIN)/python -m tools.demo

# Compiled files are kept, whatever the environment says: the commands that tests start would compile every module again.
test: setup
	PYTHONDONTWRITEBYTECODE= $(BIN)/pytest -q -n 2 --dist worksteal --ignore=tests/browser -m "not slow"

# The share of the lines of Python that `make test` runs, without those in commands that tests start as processes; below the floor it
# fails. On Python 3.12 and later it takes hardly longer than the tests alone, on 3.11 three times as long.
COVERAGE_FLOOR := 96
coverage: setup
	PYTHONDONTWRITEBYTECODE= COVERAGE_CORE=$(shell $(BIN)/python -c 'import sys; print("sysmon" if sys.version_info >= (3, 12) else "ctrace")') \
	  $(BIN)/pytest -q -n 2 --dist worksteal --ignore=tests/browser -m "not slow" --cov=certree --cov-report=term:skip-covered \
	  --cov-fail-under=$(COVERAGE_FLOOR)

# Reports and pages of the site in a browser; needs Chromium. All pages of the site: make verify-all.
browser-test: setup docs
	$(BIN)/pytest -q tests/browser -m "not slow"

# Property tests with other examples in every run, over sixty times as many, and damaged files for every reader and
# every form of schedule, an hour in all: exploration; CI has a minute of the damaged files.
fuzz: setup
	$(BIN)/pytest -q -n 2 -m hypothesis --hypothesis-profile=fuzz
	$(BIN)/python -m tests.fuzz.readers 3600

fuzz-smoke: setup
	$(BIN)/python -m tests.fuzz.readers 60

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python -m tools.words
	$(BIN)/clang-format --dry-run --Werror $(CPP)
	$(BIN)/lint-imports

# mypy on the code; pyright, as in an editor, on whether every import leads somewhere.
types: setup
	MYPYPATH=build/type-links $(BIN)/mypy -p certree
	MYPYPATH=build/type-links $(BIN)/mypy tools
	$(BIN)/mypy hw/rtl/bench/certree_ni_cocotb.py
	$(BIN)/python -m tests.packaging.editor

# The wheel, in an environment of its own and away from this folder, does what certree does.
wheel-test: setup
	$(BIN)/python -m tests.packaging.wheel

# The documentation site, in build/site; a broken link is an error.
docs: setup
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

# Pages that are generated, and the outputs that pages show: tests compare them.
pages: setup
	$(BIN)/python -m tests.verify.rule_page
	$(BIN)/python -m tests.verify.class_page
	$(BIN)/python -m tests.verify.tables.traceability
	$(BIN)/python -m tests.end_to_end.composition.matrix
	$(BIN)/python -m tests.end_to_end.pages
	$(BIN)/python -m tests.end_to_end.contributing

# The reference network interface: lint, co-simulation with the simulator, synthesis, proofs. Exit code 69 of the module, and one
# line, where Verilator or Yosys is missing.
rtl: setup
	$(BIN)/python -m tests.rtl

# The smallest co-simulations of it, and its proofs; where a tool is missing, one line.
rtl-smoke: setup
	$(BIN)/python -m tests.rtl mesh-2x2 mesh-2x2-demand mesh-1x2-sums mesh-2x2-then-broadcast proofs || [ $$? -eq 69 ]

# The proofs of specs/proved, from scratch, and what their theorems rest on; exit code 69, and one line, without Coq.
proofs: setup
	$(BIN)/python -m tools.proofs

specs: models symbolic

models: setup
	$(BIN)/certree model-check

symbolic: setup
	$(BIN)/certree model-check symbolic
	$(BIN)/certree model-check symbolic --run paced

# All that is too long for CI: tests marked slow (tests/slow.txt), the larger models, every single edit of the modules (an hour on
# two free cores), and 10,000 random draws that all who decide must agree on, TLC on the small ones of 1,112 of them.
verify-all: specs docs coverage
	$(BIN)/pytest -q -n 2 --dist worksteal --ignore=tests/browser -m slow
	$(BIN)/pytest -q -n 2 tests/browser -m slow
	$(BIN)/certree model-check --full
	$(BIN)/python -m tools.specs edits
	$(BIN)/python -m tools.specs guards
	$(BIN)/python -m tools.tables.scorecard build/scorecard --compare
	$(BIN)/python -m tests.end_to_end.draws.differential 0 10000 9
	$(BIN)/python -m tests.end_to_end.draws.every_method 0 300
	$(BIN)/python -m tests.end_to_end.draws.bounded 0 300
	$(BIN)/python -m tests.end_to_end.draws.exact_rates 0 2000
	$(BIN)/python -m tests.verify.deadlock.drawn 0 1000

bench: setup
	$(BIN)/python -m tests.bench.run

bench-smoke: setup
	$(BIN)/python -m tests.bench.run --smoke

# Against TACOS, ForestColl, BookSim2 and ASTRA-sim: those whose folder or program is in CERTREE_RACE_TACOS, CERTREE_RACE_FORESTCOLL
# or CERTREE_RACE_BOOKSIM run now, of the others recorded figures stand (tests/bench/race).
race: setup
	$(BIN)/python -m tests.bench.race.race

# Times of everyday calls, kept in build/benchmarks from run to run; it fails where one takes 10 % more than in the run before, and
# draws all runs in build/benchmarks/*.svg.
bench-history: setup
	@mkdir -p build/benchmarks
	$(BIN)/pytest -q tests/bench/history/calls.py --benchmark-storage=build/benchmarks --benchmark-autosave --benchmark-timer=time.process_time \
	  $(if $(wildcard build/benchmarks/*/*.json),--benchmark-compare --benchmark-compare-fail=min:10%) --benchmark-columns=min,median,rounds
	$(BIN)/pytest-benchmark --storage=build/benchmarks compare --columns=min --group-by=name --histogram=build/benchmarks/history >/dev/null

# Refutations by formula, of all-reduces and of an all-to-all with little scratch, checked by VeriPB (a Rust program, built once; not
# in CI).
VERIPB := build/veripb/bin/veripb
veripb: setup $(VERIPB)
	@rm -rf build/proofs && mkdir -p build/proofs
	@$(BIN)/certree frontier ring:4 --max-chunks 6 -o build/proofs/ring4.json.gz
	@$(BIN)/certree frontier ring:7 --max-chunks 2 -o build/proofs/ring7.json.gz
	@$(BIN)/certree frontier mesh:2x3 --collective all-to-all --max-chunks 1 --scratch 1 -o build/proofs/mesh.json.gz
	@for bundle in ring4 ring7 mesh; do $(BIN)/certree verify build/proofs/$$bundle.json.gz --proofs build/proofs/$$bundle >/dev/null; done
	@for proof in build/proofs/*/*.pbp; do echo "$$proof"; $(VERIPB) --cnf $${proof%.pbp}.cnf $$proof || exit 1; done

$(VERIPB):
	cargo install veripb --version 3.0.2 --locked --root build/veripb

# Unit tests of the simulator core (C++), under AddressSanitizer and UBSan.
core-tests: setup
	@cmake -S . -B build/sanitize -DCERTREE_SANITIZE=ON -DCMAKE_BUILD_TYPE=Debug -DPython_EXECUTABLE=$(abspath $(BIN)/python) >/dev/null
	@cmake --build build/sanitize --target core_tests -j 2 >/dev/null
	UBSAN_OPTIONS=halt_on_error=1 build/sanitize/tests/hw/core/core_tests

# Those, and the Python tests that use the core, all under the sanitizers. Leaks are not looked for: Python itself keeps memory to
# its end.
sanitize: core-tests
	@cmake --build build/sanitize --target _core -j 2 >/dev/null
	LD_PRELOAD="$$($(CXX) -print-file-name=libasan.so) $$($(CXX) -print-file-name=libubsan.so)" ASAN_OPTIONS=detect_leaks=0 \
	  UBSAN_OPTIONS=halt_on_error=1 $(BIN)/python -m tests.hw.sanitized build/sanitize

# The editable install lists the files by name: another stamp for another list, so that a moved or added module installs again.
INSTALLED := $(VENV)/.installed-$(shell find api models synth verify specs hw cli extras -name '*.py' 2>/dev/null | LC_ALL=C sort | cksum | cut -d' ' -f1)
TYPED := build/type-links/certree/py.typed

setup: $(INSTALLED) $(TYPED)

$(VENV)/.locked: requirements.lock
	@echo "setting up $(VENV) (once, a few minutes)"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/pip install -q --disable-pip-version-check --require-hashes -r requirements.lock
	@touch $@

# Editable: Python is served from this folder; a change of the native code or of pyproject.toml installs again.
$(INSTALLED): $(VENV)/.locked pyproject.toml $(NATIVE)
	@CMAKE_BUILD_PARALLEL_LEVEL=2 $(BIN)/pip install -q --disable-pip-version-check --no-build-isolation --no-deps -e .
	@rm -f $(VENV)/.installed-*
	@touch $@

# mypy, mkdocs and editors read a package folder, not an editable install: one made of links, and the stubs of the native code.
# (Import-linter passes over a folder with a hyphen.)
$(TYPED): $(INSTALLED)
	@rm -rf build/type-links && mkdir -p build/type-links/certree
	@cp -rs $(addprefix $(CURDIR)/,models synth verify specs hw api cli extras) build/type-links/certree
	@cd $(VENV)/lib/python3*/site-packages && cp --parents certree/*/*.pyi $(CURDIR)/build/type-links
	@touch build/type-links/certree/__init__.py $@

# Regenerates requirements.lock from pyproject.toml (needs pip-tools).
lock:
	$(BIN)/pip-compile -q --extra plots --extra smt --extra dev --extra docs --extra cluster --extra jax --extra parquet --extra rtl --build-deps-for wheel --strip-extras \
	  --generate-hashes --allow-unsafe --no-emit-index-url --no-emit-find-links --no-emit-trusted-host --output-file requirements.lock pyproject.toml

clean:
	rm -rf $(VENV) build
