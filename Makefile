# Targets explain themselves: a line that ends in "## text" is shown by `make`.
.DEFAULT_GOAL := help
SHELL := /bin/bash
CHECK := --explicit-target-dependency-import-check error
# Tests that start no process and no server, and measure nothing but their own thread. Those of the engine are none of them:
# a simulation has all its tasks on one thread, and where several run at a time the runtime now and then takes one to another.
ALONE := ^(EncodingsTests|JSONPathTests|PipelineCoreTests)\.
PREFIX ?= /usr/local
TIMES ?= 100

.PHONY: help
help: ## Show what there is to make
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 22

.PHONY: dependencies
dependencies: ## Install the system packages that are missing
	@.scripts/dependencies

.PHONY: build
build: dependencies ## Build everything for debugging
	swift build $(CHECK)

.PHONY: demo
demo: dependencies ## Start the demonstration service, turn a selfie (VIDEO=me.y4m: yours) into a 3D model, show it
	swift build $(CHECK) --product pipeline
	swift build $(CHECK) --product selfie-studio
	.scripts/demo "$$(swift build $(CHECK) --show-bin-path)" $(VIDEO)

.PHONY: demo-machines
demo-machines: dependencies ## Run 300 jobs by three workers on a PostgreSQL of its own, and kill one with -9
	swift build $(CHECK) --product pipeline
	swift build $(CHECK) --product pipeline-daemon
	swift build $(CHECK) --product selfie-studio
	.scripts/with-postgres .scripts/demo-machines "$$(swift build $(CHECK) --show-bin-path)"

.PHONY: test
test: dependencies ## Run all tests: those that need nothing in one process, then the others in two
	@.scripts/peers >/dev/null || true
	@.scripts/browser >/dev/null || [ -z "$$CI" ]
	@.scripts/readers >/dev/null || true
	@.scripts/test $(CHECK) --filter '$(ALONE)'
	@.scripts/test-side-by-side '$(ALONE)'

.PHONY: peers
peers: ## Get servers that others wrote, from PyPI, for the tests of uploads (make test does so too)
	@.scripts/peers

.PHONY: browser
browser: ## Get Debian's Chromium and axe-core, for the tests of the pages (make test does so too)
	@.scripts/browser

.PHONY: screenshots
screenshots: dependencies browser ## Show each page as a browser does, in .build/screenshots
	swift build --build-tests $(CHECK)
	SCREENSHOTS=$(CURDIR)/.build/screenshots swift test --skip-build --no-parallel --filter BrowserTests.screenshots
	cp .build/screenshots/dashboard-*.webp Fixtures/Pictures/
	@echo "see .build/screenshots; the README shows two of them"

.PHONY: readers
readers: ## Get readers that others wrote, from PyPI, for the tests of metrics and traces (make test does so too)
	@.scripts/readers

.PHONY: test-fast
test-fast: dependencies ## Run the tests that need no processes and no sockets
	swift test $(CHECK) --filter '$(ALONE)'
	swift test $(CHECK) --skip-build --no-parallel --filter '^PipelineEngineTests\.'

.PHONY: torture
torture: dependencies ## Kill the program at every crash point TIMES times (100) and compare
	PIPELINE_TORTURE=$(TIMES) swift test $(CHECK) --no-parallel --filter CrashTests

.PHONY: simulate
simulate: dependencies ## Simulate SEEDS (200000) schedules with crashes in virtual time, of a release build
	@SEEDS=$${SEEDS:-200000} .scripts/simulate $(CHECK)

.PHONY: mutants
mutants: dependencies ## Make mistakes in the law of a job, one after the other: its tests must notice each
	.scripts/mutants

.PHONY: fuzz
fuzz: dependencies ## Feed readers with mutated input for FUZZ_SECONDS (30) each, from FUZZ_SEED
	FUZZ_SECONDS=$${FUZZ_SECONDS:-30} FUZZ_SEED=$${FUZZ_SEED:-$$RANDOM} swift test -c release --scratch-path .build-simulate -Xswiftc -enable-testing $(CHECK) --no-parallel --filter FuzzTests

.PHONY: lint
lint: ## Check the format of the sources
	swift format lint --strict --parallel --recursive Package.swift Sources Tests

.PHONY: format
format: ## Format the sources
	swift format --in-place --parallel --recursive Package.swift Sources Tests

.PHONY: references
references: dependencies ## Write the schema, the reference pages and what pages print anew
	swift build --build-tests $(CHECK)
	"$$(swift build --show-bin-path)/pipeline" schema > Pipelines/pipeline.schema.json
	RECORD=1 swift test --skip-build $(CHECK) --no-parallel --filter 'ReferencePageTests|GuideTests'

.PHONY: pictures
pictures: dependencies ## Record the pictures of the README from the program in a terminal
	swift build $(CHECK) --product pipeline
	swift build $(CHECK) --product selfie-studio
	.scripts/pictures "$$(swift build $(CHECK) --show-bin-path)"

.PHONY: docs
docs: dependencies ## Build the documentation into .build/docs, a website
	.scripts/docs

.PHONY: bench
bench: dependencies ## Measure against curl and other peers; prints ratios
	.scripts/bench "$$(.scripts/release pipeline pipeline-daemon pipeline-bench selfie-studio)"

.PHONY: release
release: dependencies ## Build the programs for release, the Swift runtime linked in
	.scripts/release pipeline pipeline-daemon

.PHONY: hot-functions
hot-functions: dependencies ## Record which functions jobs call (needs valgrind): releases have them stand together
	.scripts/hot-functions "$$(.scripts/release pipeline pipeline-daemon selfie-studio)" >.build-release/called
	gzip -n9 <.build-release/called >.scripts/hot-functions.gz

.PHONY: install
install: release ## Build for release and install under PREFIX (/usr/local)
	.scripts/install "$$(.scripts/release pipeline pipeline-daemon)" "$(DESTDIR)" "$(PREFIX)"

.PHONY: test-install
test-install: release ## Install into a folder of its own, run a job from there, tell the sizes
	.scripts/test-install "$$(.scripts/release pipeline pipeline-daemon)"

.PHONY: deb
deb: release ## Build a Debian package; it needs no Swift where it is installed
	.scripts/deb "$$(.scripts/release pipeline pipeline-daemon)"

.PHONY: test-deb
test-deb: deb ## Install the Debian package into a fresh root and run it there
	.scripts/test-deb .build-release/pipeline_*.deb

.PHONY: dist
dist: release ## Make what is given out, in dist: an archive that runs from any folder, the .deb, checksums, an SBOM
	.scripts/dist "$$(.scripts/release pipeline pipeline-daemon)" dist

.PHONY: test-dist
test-dist: dist ## Unpack what is given out elsewhere, install it, run a job there, and pack it once more to compare
	.scripts/test-dist dist "$$(.scripts/release pipeline pipeline-daemon)"

.PHONY: dist-try
dist-try: dist ## Try what is given out in fresh roots of Debian 12 and 13, made by debootstrap (as root)
	.scripts/dist-try dist

.PHONY: dist-same
dist-same: ## Build what is given out in two folders, from nothing, and compare every byte
	.scripts/dist-same

.PHONY: ci
ci: export CI = true
ci: dependencies lint ## What continuous integration runs
	@(.scripts/browser >/dev/null 2>&1 || true) & swift build --build-tests $(CHECK) && wait
	$(MAKE) test

.PHONY: clean
clean: ## Remove what was built
	swift package clean
