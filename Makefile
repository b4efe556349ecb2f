# Every target does its own set-up. ARGS goes to the command that a target runs, SWIFTFLAGS to every swift command.

SWIFTFLAGS ?=
ARGS ?=
SEEDS ?= 20000
MUTATIONS ?= 1000000
PREFIX ?= /usr/local
DESTDIR ?=

# Optimised code that tests can still look into.
OPTIMISED := -c release -Xswiftc -enable-testing

.DEFAULT_GOAL := help
.PHONY: help setup build counted demo program install package test long costs soak figures lint format bench docs-check

help: ## Show this list
	@echo 'usage: make TARGET [ARGS="..."]'
	@echo
	@sed -nE 's/^([a-z-]+):[^#]*## (.*)/  \1|\2/p' $(firstword $(MAKEFILE_LIST)) | \
		while IFS='|' read -r name text; do printf '  %-12s %s\n' "$$name" "$$text"; done

setup: ## Check the Swift toolchain and install the Debian packages that are missing
	@.ci/setup

build: setup ## Build everything, tests too
	swift build --build-tests $(SWIFTFLAGS)

counted: setup ## Build what is counted, optimised: the byte path alone
	swift build -c release --product rind-count $(SWIFTFLAGS)

demo: setup ## Run the gateway with a demo backend; ARGS=--once ends by itself
	@test -d .build || echo "The first build takes about five minutes on two cores; later ones take seconds."
	swift build --product rind $(SWIFTFLAGS)
	@"$$(swift build --show-bin-path $(SWIFTFLAGS))/rind" demo $(ARGS)

program: setup ## Build the gateway for use: optimised, with Swift's runtime in it
	swift build -c release --static-swift-stdlib --product rind $(SWIFTFLAGS)

# Without a build of its own, so that root need not run the compiler: 'make program && sudo make install'.
install: ## Install the built gateway and its systemd unit below PREFIX=/usr/local; DESTDIR=... puts a root before it
	@test -x .build/release/rind || { echo "there is no .build/release/rind: run 'make program' first" >&2; exit 1; }
	install -D -m 0755 --strip .build/release/rind "$(DESTDIR)$(PREFIX)/bin/rind"
	install -d "$(DESTDIR)$(PREFIX)/lib/systemd/system" "$(DESTDIR)$(PREFIX)/share/doc/rind"
	sed 's,/usr/local/bin/rind,$(PREFIX)/bin/rind,' examples/systemd/rind.service \
		> "$(DESTDIR)$(PREFIX)/lib/systemd/system/rind.service"
	install -m 0644 config/rind.ini "$(DESTDIR)$(PREFIX)/share/doc/rind/rind.ini"

package: program ## Build a Debian package in .build; the optimised build takes about 25 minutes on two cores
	@examples/debian/build-package .build

test: setup ## Run the tests, but for the long ones; ARGS="--filter CursorTests" runs some
	@.ci/test $(SWIFTFLAGS) $(ARGS)

long: setup ## Run the long tests: random courses, kills, every recording and every cut
	@RIND_TEST_LONG=only .ci/test $(SWIFTFLAGS) $(ARGS)

costs: counted ## Count what a line and an idle pull cost, and compare with the limits
	@.ci/test --filter CostTests $(SWIFTFLAGS) $(ARGS)

soak: setup ## Run what takes hours: thread sanitizer, SEEDS=20000 simulations, MUTATIONS=1000000 requests, kills, a flood
	@RIND_TEST_LONG=also .ci/test --sanitize=thread --scratch-path .build-tsan --skip 'SimulationTests|FuzzTests' $(SWIFTFLAGS) $(ARGS)
	@RIND_TEST_SEEDS=$(SEEDS) RIND_TEST_EVENTS=1000000 RIND_TEST_VALUES=1000000 .ci/test $(OPTIMISED) --filter 'SimulationTests|FuzzTests' $(SWIFTFLAGS)
	@RIND_TEST_STORE_SEEDS=2000 .ci/test $(OPTIMISED) --filter 'SimulatedStoreTests|ByteStoreTests' $(SWIFTFLAGS)
	@RIND_TEST_DEVICES=5000 .ci/test $(OPTIMISED) --filter SharedLoginCostTests $(SWIFTFLAGS)
	@RIND_TEST_PUSH_SEEDS=400 .ci/test $(OPTIMISED) --filter PushFaultTests $(SWIFTFLAGS)
	@RIND_TEST_MUTATIONS=$(MUTATIONS) .ci/test $(OPTIMISED) --filter MutatedExchangeTests $(SWIFTFLAGS)
	@RIND_TEST_ANSWERS=$(MUTATIONS) .ci/test $(OPTIMISED) --filter RandomPushAnswerTests $(SWIFTFLAGS)
	@RIND_TEST_KILLS=100 .ci/test $(OPTIMISED) --filter KillTests $(SWIFTFLAGS)
	@RIND_TEST_FLOOD=1 .ci/test $(OPTIMISED) --filter FloodTests $(SWIFTFLAGS)

figures: setup ## Print how large the tree is, and how well it keeps to its shape
	@RIND_FIGURES=1 swift test --disable-xctest --quiet --filter TreeFigures $(SWIFTFLAGS) | grep '^  [a-z]'

lint: setup ## Check formatting and style
	swift format lint --strict --recursive --parallel Sources Tests Package.swift

format: setup ## Format the sources in place
	swift format --in-place --recursive --parallel Sources Tests Package.swift

bench: setup ## Run all benchmarks that have goals, optimised, a quarter of an hour; ARGS names one scenario
	swift run -c release $(SWIFTFLAGS) rind-bench $(or $(ARGS),Goals)

docs-check: setup ## Check that links lead somewhere and generated files are up to date
	@.ci/test --filter 'TidyTests|GeneratedFilesTests' $(SWIFTFLAGS)
