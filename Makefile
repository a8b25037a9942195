# Python 3.11 or newer and make are all that is needed: each target installs what it needs into .venv.
PYTHON ?= python3
VENV := .venv
BENCH := .venv-bench
SPARK := .venv-spark
NODE := .venv-node
PROVIDER := tests/browser/provider
RELEASE := .venv-release
RECIPES := .venv-recipes
BIN := $(VENV)/bin
PIP := $(BIN)/pip --disable-pip-version-check install --quiet

.DEFAULT_GOAL := help
.PHONY: help setup demo serve docs test test-slow test-hostile test-browser test-r test-recipes test-generated-clients r-docs pictures examples openapi test-kill test-faults test-spark container-check advisories lint-web format-web \
	fuzz client messages bench bench-long bench-setup lint format lock release-check clean

help: ## Show what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

VERSION := client/src/snapledger_client/_version.py

$(VENV)/runtime: requirements.lock pyproject.toml client/pyproject.toml $(VERSION)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=…")'
	@echo "Installing what the service needs into $(VENV) …"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python tools/install_packages.py requirements.lock
	@$(PIP) --no-deps --editable .
	@$(PIP) --no-deps --editable client  # last, since it has the command
	@touch $@

$(VENV)/development: requirements-dev.lock $(VENV)/runtime
	@echo "Installing what the tests need into $(VENV) …"
	@$(BIN)/python tools/install_packages.py requirements-dev.lock
	@touch $@

$(VENV)/guide: requirements-docs.lock $(VENV)/runtime
	@echo "Installing what builds the guide into $(VENV) …"
	@$(BIN)/python tools/install_packages.py requirements-docs.lock
	@touch $@

setup: $(VENV)/runtime ## Install the service into .venv

demo: $(VENV)/runtime ## Run the main job on real data, from a temporary service
	@$(BIN)/snapledger demo

serve: $(VENV)/runtime ## Start the service on http://127.0.0.1:8000, with its ledger and data under var/
	@test -f app/guide/index.html || $(MAKE) --no-print-directory docs || echo "The guide could not be built; make docs says why."
	@$(BIN)/snapledger serve

docs: app/guide/index.html ## Build the guide that the service shows at /guide; every warning is an error

app/guide/index.html: $(VENV)/guide $(shell find docs -type f -not -name '*.pyc') $(shell find app client/src -name '*.py' -o -name openapi.json)
	@echo "Building the guide …"
	@rm -rf app/guide
	@$(BIN)/sphinx-build -q -n -W --keep-going -E -b html -d build/doctrees docs app/guide || { rm -rf app/guide; exit 1; }

# Not loaded, since what needs them is left out: they take a second of each process.
LEFT_OUT := -p no:schemathesis --ignore=tests/browser --ignore=tests/hostile --ignore=tests/r --ignore=tests/recipes --ignore=tests/generated_clients
test: $(VENV)/development ## Run the tests, on SQLite and Postgres
	@$(BIN)/python -m pytest -q -n 2 --dist loadfile $(LEFT_OUT) -m "not slow and not browser and not container and not hostile"

test-slow: LONGER ?= 1
test-slow: $(VENV)/development ## Run the tests that take long, or LONGER times as long
	@LONGER=$(LONGER) $(BIN)/python -m pytest -q -n 2 --dist loadfile --no-loadscope-reorder -m slow || test $$? -eq 5  # 5: there are none

test-hostile: $(VENV)/development ## Attack services that have 1 GiB of memory each (as root, in a memory cgroup)
	@$(BIN)/python -m pytest -q -m hostile tests/hostile </dev/null

test-browser: $(VENV)/development $(PROVIDER)/node_modules/ready docs ## Run the dashboard's tests in headless Chromium (Debian's package chromium-headless-shell, or chromium)
	@$(BIN)/python -m pytest -q -n 2 --dist loadfile -m browser tests/browser

GENERATORS := tools/generators
RECIPE_CHECKS := tools/recipes
test-generated-clients: $(VENV)/development .venv-generators/ready $(GENERATORS)/node_modules/ready ## Generate five clients of the interface and try them (needs Java; npm as lint-web)
	@command -v java >/dev/null || { apt-get -q update && \
		DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends default-jre-headless || echo "Java could not be installed"; } </dev/null
	@PATH="$$PATH:$(CURDIR)/$(NODE)/bin" $(BIN)/python -m pytest -q -m generated tests/generated_clients

.venv-generators/ready: requirements-generators.lock
	@echo "Installing generators of Python clients into .venv-generators …"
	@test -x .venv-generators/bin/python || $(PYTHON) -m venv .venv-generators
	@.venv-generators/bin/pip --disable-pip-version-check install --quiet --require-hashes -r requirements-generators.lock
	@touch $@

test-r: $(VENV)/development ## Build and check the R client, and try it against a service (needs R: see .ci/run)
	@$(BIN)/python -m pytest -q -m r tests/r

test-recipes: $(VENV)/development $(RECIPES)/ready $(RECIPE_CHECKS)/node_modules/ready ## Try the guide's recipes: Superset, LibreOffice, pandas (needs Debian's libreoffice-base libreoffice-calc odbc-postgresql python3-uno unixodbc chromium)
	@PATH="$$PATH:$(CURDIR)/$(NODE)/bin" $(BIN)/python -m pytest -q -m recipes tests/recipes

$(RECIPES)/ready: requirements-recipes.lock
	@echo "Installing Superset into $(RECIPES) …"
	@test -x $(RECIPES)/bin/python || $(PYTHON) -m venv $(RECIPES)
	@$(RECIPES)/bin/python tools/install_packages.py requirements-recipes.lock --no-deps
	@touch $@

r-docs: ## Write the R client's manual pages and NAMESPACE anew (Debian's package r-cran-roxygen2)
	@Rscript -e 'roxygen2::roxygenise("clients/r")'

pictures: $(VENV)/development ## Make the pictures in docs/screenshots anew
	@$(BIN)/python -m pytest -q -m browser tests/browser/test_pages.py --pictures

examples: $(VENV)/development ## Record the examples in the OpenAPI document anew, where the service answers otherwise
	@$(BIN)/python -m pytest -q tests/functional/http/test_openapi_examples.py --examples
	@$(BIN)/python tools/write_openapi.py

test-kill: CYCLES ?= 1000
test-kill: $(VENV)/development ## Kill the service under load CYCLES times on each database (1000)
	@KILL_CYCLES=$(CYCLES) $(BIN)/python -m pytest -q -m slow tests/faults/test_killed.py

test-faults: $(VENV)/development ## Break what four workers on Postgres stand on, under load (as root, also a full disk)
	@$(BIN)/python -m pytest -q -m slow tests/faults/test_under_load.py

CONTAINER_TOOLS := mmdebstrap bubblewrap docker-compose caddy redis-server
container-check: $(VENV)/development ## Execute the Dockerfile's steps in a clean root tree, run the outcome, check what deploys it (as root)
	@dpkg-query -W $(CONTAINER_TOOLS) >/dev/null 2>&1 || { apt-get -qq update && DEBIAN_FRONTEND=noninteractive \
		apt-get -qq install -y --no-install-recommends $(CONTAINER_TOOLS); } </dev/null >/dev/null \
		|| echo "$(CONTAINER_TOOLS) could not be installed: what needs them is skipped"
	@PYTEST_DEBUG_TEMPROOT=$${TMPDIR:-/tmp} $(BIN)/python -m pytest -q -m container tests/containers

advisories: $(VENV)/development ## Look for advisories about what the lock files pin
	@$(BIN)/python tools/check_advisories.py

fuzz: SECONDS ?= 30
fuzz: $(VENV)/development ## Fuzz each parser of what strangers send, guided by coverage, for SECONDS (30); TARGETS chooses some
	@$(BIN)/python tests/fuzzing/run.py $(SECONDS) $(TARGETS)

test-spark: $(SPARK)/ready ## Run the tests on a Spark server; installs them, and as root a Java, where they are missing
	@command -v java >/dev/null || { apt-get -q update && \
		DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends default-jre-headless || echo "Java could not be installed"; } </dev/null
	@$(SPARK)/bin/python -m pytest -q tests/engines/test_spark.py

$(SPARK)/ready: requirements-spark.lock pyproject.toml
	@echo "Installing a Spark server and what its tests need into $(SPARK) …"
	@test -x $(SPARK)/bin/python || $(PYTHON) -m venv $(SPARK)
	@$(SPARK)/bin/pip --disable-pip-version-check install --quiet --require-hashes -r requirements-spark.lock
	@$(SPARK)/bin/pip --disable-pip-version-check install --quiet --no-deps --editable client --editable .
	@touch $@

bench: $(VENV)/development $(BENCH)/peers ## Measure everything beside other libraries in ten minutes, and write docs/performance.md
	@$(BIN)/python benchmarks/run.py $(NAMES)

bench-long: $(VENV)/development $(BENCH)/peers ## Measure larger tables, longer ledgers and more requests in about an hour
	@$(BIN)/python benchmarks/run.py --long $(NAMES)

bench-setup: $(BENCH)/peers ## Install what the benchmarks measure us beside into .venv-bench

$(BENCH)/peers: requirements-bench.lock pyproject.toml
	@echo "Installing what the benchmarks need into $(BENCH) …"
	@test -x $(BENCH)/bin/python || $(PYTHON) -m venv $(BENCH)
	@$(BENCH)/bin/pip --disable-pip-version-check install --quiet --require-hashes -r requirements-bench.lock
	@$(BENCH)/bin/pip --disable-pip-version-check install --quiet --no-deps --editable client --editable .
	@touch $@

messages: $(VENV)/development ## List all texts that people read in docs/messages.md, all commands, and the formats of files
	@$(BIN)/python tools/list_terms.py
	@$(BIN)/python tools/list_messages.py
	@$(BIN)/python tools/list_commands.py
	@$(BIN)/python tools/list_file_formats.py

openapi: $(VENV)/development ## Write the OpenAPI document that the service answers
	@$(BIN)/python tools/write_openapi.py

client: $(VENV)/development ## Generate the client's synchronous half from the asynchronous one
	@$(BIN)/python tools/generate_sync_client.py

lint: $(VENV)/development ## Check style, types and the direction of imports
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/ruff check --quiet .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

WEB := tools/web
CHECKS := $(WEB)/node_modules/.bin
$(NODE)/ready: requirements-web.lock  # a target of its own, since those that need it may be made side by side
	@command -v npm >/dev/null || { $(PYTHON) -m venv $(NODE) && \
		$(NODE)/bin/pip --disable-pip-version-check install --quiet --require-hashes -r requirements-web.lock; }
	@mkdir -p $(NODE) && touch $@

$(WEB)/node_modules/ready $(PROVIDER)/node_modules/ready $(GENERATORS)/node_modules/ready $(RECIPE_CHECKS)/node_modules/ready: %/node_modules/ready: %/package-lock.json $(NODE)/ready
	@echo "Installing the packages of $*/package.json …"
	@cd $* && PATH="$$PATH:$(CURDIR)/$(NODE)/bin" npm ci --silent
	@touch $@

lint-web: $(WEB)/node_modules/ready ## Check style and types of the dashboard's files (needs npm, or installs it into .venv-node)
	@PATH="$$PATH:$(CURDIR)/$(NODE)/bin" $(CHECKS)/tsc -p $(WEB)/tsconfig.json
	@PATH="$$PATH:$(CURDIR)/$(NODE)/bin" $(CHECKS)/biome check --error-on-warnings --config-path=$(WEB) app/web

format-web: $(WEB)/node_modules/ready ## Format the dashboard's files
	@PATH="$$PATH:$(CURDIR)/$(NODE)/bin" $(CHECKS)/biome check --write --config-path=$(WEB) app/web

format: $(VENV)/development ## Format the code
	@$(BIN)/ruff format --quiet .
	@$(BIN)/ruff check --quiet --fix .

lock: ## Pin the newest versions that pyproject.toml allows (needs uv)
	@uv pip compile -q --upgrade --universal --generate-hashes --no-header --no-annotate --no-emit-index-url \
		--no-emit-package snapledger-client --python-version 3.11 --extra redis pyproject.toml -o requirements.lock
	@uv pip compile -q --upgrade --universal --generate-hashes --no-header --no-annotate --no-emit-index-url \
		--no-emit-package snapledger-client --python-version 3.11 --group dev pyproject.toml -o requirements-dev.lock
	@uv pip compile -q --upgrade --universal --generate-hashes --no-header --no-annotate --no-emit-index-url \
		--no-emit-package snapledger-client --python-version 3.11 --group docs pyproject.toml -o requirements-docs.lock
	@uv pip compile -q --upgrade --universal --generate-hashes --no-header --no-annotate --no-emit-index-url \
		--python-version 3.11 --group build -o requirements-build.lock
	@uv pip compile -q --upgrade --universal --generate-hashes --no-header --no-annotate --no-emit-index-url \
		--python-version 3.11 --group release -o requirements-release.lock
	@uv pip compile -q --upgrade --universal --generate-hashes --no-header --no-annotate --no-emit-index-url \
		--no-emit-package snapledger-client --python-version 3.11 --group bench pyproject.toml -o requirements-bench.lock
	@uv pip compile -q --upgrade --universal --generate-hashes --no-header --no-annotate --no-emit-index-url \
		--python-version 3.11 --group web -o requirements-web.lock
	@uv pip compile -q --upgrade --universal --generate-hashes --no-header --no-annotate --no-emit-index-url \
		--python-version 3.11 --group generators -o requirements-generators.lock
	@uv pip compile -q --upgrade --universal --generate-hashes --no-header --no-annotate --no-emit-index-url \
		--no-emit-package snapledger-client --python-version 3.11 --group dev --group spark pyproject.toml -o requirements-spark.lock
	@uv pip compile -q --upgrade --universal --generate-hashes --no-header --no-annotate --no-emit-index-url \
		--python-version 3.11 --override requirements-recipes.overrides --group recipes -o requirements-recipes.lock

release-check: $(RELEASE)/ready docs ## Build both packages into dist/, try them in empty environments, list their components
	@$(RELEASE)/bin/python tools/release_check.py

$(RELEASE)/ready: requirements-release.lock
	@echo "Installing what a release is built and checked with into $(RELEASE) …"
	@test -x $(RELEASE)/bin/python || $(PYTHON) -m venv $(RELEASE)
	@$(RELEASE)/bin/python tools/install_packages.py requirements-release.lock
	@touch $@

clean: ## Delete .venv, .venv-bench, .venv-release, .venv-spark, .venv-node, .venv-generators, .venv-recipes, caches and builds; var/ with its ledger stays
	@rm -rf $(VENV) $(BENCH) $(RELEASE) $(SPARK) $(NODE) .venv-generators $(RECIPES) $(RECIPE_CHECKS)/node_modules $(GENERATORS)/node_modules $(WEB)/node_modules $(PROVIDER)/node_modules app/guide build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage
