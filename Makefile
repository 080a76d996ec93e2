# Targets explain themselves: a line that ends in "## text" is shown by `make`.
.DEFAULT_GOAL := help
SHELL := /bin/bash
CHECK := --explicit-target-dependency-import-check error
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
demo: dependencies ## Start the demonstration service and run Pipelines/selfie.json against it
	swift build $(CHECK) --product pipeline
	swift build $(CHECK) --product selfie-studio
	.scripts/demo "$$(swift build $(CHECK) --show-bin-path)"

.PHONY: test
test: dependencies ## Run all tests, one after the other, then 20,000 simulated schedules of a release build
	@.scripts/test $(CHECK) --no-parallel
	@SEEDS=20000 .scripts/test -c release --scratch-path .build-simulate -Xswiftc -enable-testing $(CHECK) --filter SimulationTests

.PHONY: test-fast
test-fast: dependencies ## Run the tests that need no processes and no sockets
	swift test $(CHECK) --filter 'JSONPathTests|PipelineCoreTests|PipelineEngineTests'

.PHONY: torture
torture: dependencies ## Kill the program at every crash point TIMES times (100) and compare
	PIPELINE_TORTURE=$(TIMES) swift test $(CHECK) --no-parallel --filter CrashTests

.PHONY: simulate
simulate: dependencies ## Simulate SEEDS (200000) schedules with crashes in virtual time
	SEEDS=$${SEEDS:-200000} swift test -c release --scratch-path .build-simulate -Xswiftc -enable-testing $(CHECK) --filter SimulationTests

.PHONY: fuzz
fuzz: dependencies ## Feed readers with mutated input for FUZZ_SECONDS (30) each, from FUZZ_SEED
	FUZZ_SECONDS=$${FUZZ_SECONDS:-30} FUZZ_SEED=$${FUZZ_SEED:-$$RANDOM} swift test -c release --scratch-path .build-simulate -Xswiftc -enable-testing $(CHECK) --no-parallel --filter FuzzTests

.PHONY: lint
lint: ## Check the format of the sources
	swift format lint --strict --parallel --recursive Package.swift Sources Tests

.PHONY: format
format: ## Format the sources
	swift format --in-place --parallel --recursive Package.swift Sources Tests

.PHONY: bench
bench: dependencies ## Measure against curl and other peers; prints ratios
	swift build -c release --scratch-path .build-release --static-swift-stdlib $(CHECK)
	.scripts/bench "$$(swift build -c release --scratch-path .build-release --static-swift-stdlib --show-bin-path)"

.PHONY: install
install: dependencies ## Build for release and install under PREFIX (/usr/local)
	swift build -c release --scratch-path .build-release --static-swift-stdlib $(CHECK) --product pipeline
	swift build -c release --scratch-path .build-release --static-swift-stdlib $(CHECK) --product pipeline-daemon
	install -d "$(DESTDIR)$(PREFIX)/bin" "$(DESTDIR)$(PREFIX)/share/pipeline/plugins" "$(DESTDIR)$(PREFIX)/lib/systemd/user"
	for program in pipeline pipeline-daemon; do \
		install -s -m 755 "$$(swift build -c release --scratch-path .build-release --static-swift-stdlib --show-bin-path)/$$program" \
			"$(DESTDIR)$(PREFIX)/bin/$$program" || exit 1; done
	for unit in pipeline.service pipeline.socket; do \
		sed 's|@PREFIX@|$(PREFIX)|' "Sources/pipeline/Units/$$unit" > "$(DESTDIR)$(PREFIX)/lib/systemd/user/$$unit"; done
	install -m 755 Sources/pipeline/Plugins/pipeline-stage-* "$(DESTDIR)$(PREFIX)/share/pipeline/plugins"

.PHONY: ci
ci: export CI = true
ci: dependencies lint ## What continuous integration runs
	swift build --build-tests $(CHECK)
	$(MAKE) test

.PHONY: clean
clean: ## Remove what was built
	swift package clean
