# The tasks of this tree. `make` alone lists them.

PREFIX ?= /usr/local
DESTDIR ?=
BINDIR ?= $(PREFIX)/bin
MANDIR ?= $(PREFIX)/share/man
# systemd looks here for a PREFIX of /usr, of /usr/local and of ~/.local.
UNITDIR ?= $(PREFIX)/share/systemd/user
SYSTEMUNITDIR ?= $(PREFIX)/lib/systemd/system
LIBEXECDIR ?= $(PREFIX)/libexec
# The system's bus and polkit read what they are told in these places only. They are outside PREFIX,
# and any other PREFIX than those of the system leaves them alone, unless it is told of them.
ofsystem := $(filter /usr /usr/local,$(PREFIX:/=))
DBUSPOLICYDIR ?= $(if $(ofsystem),/etc/dbus-1/system.d)
POLKITDIR ?= $(if $(ofsystem),/usr/share/polkit-1/actions)
# Completions lie below it, where each shell looks.
DATADIR ?= $(PREFIX)/share
export DESTDIR BINDIR MANDIR UNITDIR SYSTEMUNITDIR DATADIR LIBEXECDIR DBUSPOLICYDIR POLKITDIR

# Where Swift source is.
SWIFT := Package.swift Plugins Sources Tests Benchmarks FuzzTesting/Package.swift FuzzTesting/Sources

.DEFAULT_GOAL := help
.PHONY: help
help: ## print this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):[^#]*## /\1\t/' | \
	    while IFS="$$(printf '\t')" read -r name text; do printf '  make %-10s %s\n' "$$name" "$$text"; done

.PHONY: setup
setup: ## install the packages for building and testing (no questions, starts nothing)
	@scripts/setup test

.PHONY: build
build: ## build the programs for development, into .build/debug
	@scripts/setup build
	swift build

.PHONY: release
release: ## build the programs for installation: optimised, Swift linked statically
	@scripts/setup build
	@scripts/release

.PHONY: test
test: ## run all checks: formatter, layers, unit tests, real processes
	@scripts/setup test
	@scripts/test

.PHONY: bench
bench: ## run the benchmarks; ONLY=group for one group, ONLY=group/part for a part
	@scripts/setup bench
	@scripts/bench $(ONLY)

.PHONY: demo
demo: ## demonstrate it with nginx, newsboat and restic, until Ctrl-C; ONCE=1 exits at the end
	@scripts/demo $(if $(ONCE),--once)

.PHONY: versions
versions: ## change a file on the server during a download: who joins the two versions?
	@scripts/versions

.PHONY: demo-gateway
demo-gateway: ## demonstrate a gateway, a sender and a device, until Ctrl-C; ONCE=1 exits at the end
	@scripts/setup test
	@scripts/demo-gateway $(if $(ONCE),--once)

.PHONY: fuzz
fuzz: ## fuzz each parser for FUZZ_SECONDS (60); TARGETS=… for some of them
	@scripts/setup build
	@scripts/fuzz $(or $(FUZZ_SECONDS),60) $(TARGETS)

TESTS := $(CURDIR)/.build/tests/release/offstagePackageTests.xctest \
    --testing-library swift-testing --filter
SEEDS ?= 500
DAYS ?= 30
.PHONY: soak
soak: ## long campaigns: SEEDS (500) x DAYS (30), 1,000 gateways and libraries, ROUNDS (1000) kills
	@scripts/setup test
	@scripts/build-tests
	OFFSTAGE_SEEDS=$(SEEDS) OFFSTAGE_DAYS=$(DAYS) $(TESTS) '^SimulatorTests.CampaignTests'
	OFFSTAGE_WAKE_SEEDS=$(SEEDS) $(TESTS) '^SimulatorTests.WakeReasonTests'
	OFFSTAGE_CLIENT_SEEDS=1000 $(TESTS) '^SimulatorTests.ClientSimulationTests'
	OFFSTAGE_GATEWAY_SEEDS=1000 $(TESTS) '^GatewayCoreTests.(CampaignTests|LinkDoorTests)'
	OFFSTAGE_SEED=$$(scripts/seed) OFFSTAGE_ROUNDS=$(or $(ROUNDS),1000) \
	    $(TESTS) 'Kill.*Tests|DeviceShellTests.CampaignTests'

.PHONY: format
format: ## format all Swift source
	find $(SWIFT) -name '*.swift' -not -path 'Tests/Fixtures/port/*' \
	    -exec swift format --in-place --parallel {} +

.PHONY: lint
lint: ## check the format of the Swift source and of the scripts
	@scripts/lint

.PHONY: docs
docs: ## regenerate the tables in docs/, the manual pages and the picture of a terminal
	OFFSTAGE_WRITE_DOCUMENTS=1 swift test --filter 'DocumentTests|CompletionTests'
	scripts/terminal-picture "$$(swift build --show-bin-path)"

.PHONY: deb
deb: ## build Debian packages into .build/deb
	@scripts/setup deb
	@scripts/deb

.PHONY: test-deb
test-deb: deb ## try the packages in a container (root, debootstrap); PREVIOUS=dir: upgrade from these
	@PREVIOUS='$(PREVIOUS)' scripts/test-deb

# A directory of programs to install; empty: a release is built first.
BUILT ?=
export BUILT
.PHONY: install
install: $(if $(BUILT),,release) ## install below PREFIX (default /usr/local), staged in DESTDIR if given
	@scripts/install

.PHONY: uninstall
uninstall: ## remove what install has installed
	@scripts/install --remove

.PHONY: clean
clean: ## remove everything that was built
	rm -rf .build
