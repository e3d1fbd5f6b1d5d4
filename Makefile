# 'make' alone builds the program; see README.md for the rest.

PREFIX = /usr/local
DESTDIR =

# The Swift libraries are linked into the program, so that it runs on as it is when the toolchain
# is updated or removed. (On macOS they are part of the system.)
ifeq ($(shell uname -s),Linux)
BUILD_FLAGS = --static-swift-stdlib -Xswiftc -use-ld=lld
# It looks for no library beside itself.
BUILD_FLAGS += --disable-local-rpath
# Nothing looks up the program's symbols, and those that are exported are never left out.
LINK_FLAGS = --as-needed --no-export-dynamic
endif
# Nothing in the program shows the directory in which it was built.
BUILD_FLAGS += -Xswiftc -file-prefix-map -Xswiftc "$(CURDIR)=." -Xcc "-ffile-prefix-map=$(CURDIR)=."

# The commit that '--version' says.
COMMIT := $(shell git describe --always --dirty --abbrev=8 --exclude '*' 2>/dev/null)
COMMIT_OBJECT = $(if $(COMMIT),.build/commit/$(COMMIT).o)
LINK = $(addprefix -Xlinker ,$(LINK_FLAGS) $(COMMIT_OBJECT))
BUILD = swift build -c release $(SCRATCH) $(BUILD_FLAGS) $(LINK) --product grocerydude

PROGRAM = .build/release/grocerydude
SHARE = .build/share
SOURCES = Package.swift $(shell find Sources -type f) scripts/manual.sh

bin = $(DESTDIR)$(PREFIX)/bin
man = $(DESTDIR)$(PREFIX)/share/man/man1
bash = $(DESTDIR)$(PREFIX)/share/bash-completion/completions
zsh = $(DESTDIR)$(PREFIX)/share/zsh/site-functions
fish = $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d

.PHONY: build deb dist test-packages release deps package-deps test test-without-isal faults simulations ablations remotes cuts fuzz verdicts sanitize lint format demo benchmark manual install uninstall clean

build: deps $(COMMIT_OBJECT)
	$(BUILD)

.build/commit/%.o:
	mkdir -p $(@D)
	echo 'const char *cfiles_commit(void) { return "$*"; }' | clang -x c -c - -o $@

# Installs what is missing of the system's libraries and tools.
deps:
	scripts/install-dependencies.sh

package-deps:
	scripts/install-dependencies.sh packages

test: deps
	scripts/test.sh

# The same tests in a new system without ISA-L, where zlib deflates; needs root, debootstrap.
test-without-isal: package-deps
	scripts/test-without-isal.sh

# Kills the program at each of its calls that change the disk, lets each of them fail, and more; see
# Documentation/Design/Reliability.md. A signal's moments are tried again with GROCERYDUDE_FAULTS_SEED=n, one
# scenario with GROCERYDUDE_FAULTS_SCENARIO=NAME, one kind of server with GROCERYDUDE_FAULTS_SERVER=NAME.
faults: deps
	GROCERYDUDE_FAULTS=all scripts/test.sh --filter FaultTests

# Random histories of devices that share a store. Their seeds are printed;
# one history is tried again, and all that happened in it is printed, with
# make simulations SIMULATIONS=1 SEED=n
SIMULATIONS = 10000
simulations: deps
	GROCERYDUDE_SIMULATIONS=$(SIMULATIONS) GROCERYDUDE_SIMULATION_SEED=$(SEED) scripts/test.sh --filter SimulationTests

# Takes one safeguard of sync away at a time, in a copy of the checkout, and sees that a test notices.
ablations: deps
	scripts/ablations.py $(ARGS)

# Remotes over real servers on the loopback, all of them and with 300 MB; see Documentation/Remotes.md.
remotes: deps
	GROCERYDUDE_REMOTES=all scripts/test.sh --filter 'RemotesTests|CommandTests.*Remote|CommandTests.*Served'

# Two machines that share a folder on a server, over a connection that is cut at random, so many times over
# each kind of server; a failure prints its seed. To try that one again: make cuts CUTS=1 SEED=n
CUTS = 100
cuts: deps
	GROCERYDUDE_CUTS=$(CUTS) GROCERYDUDE_CUTS_SEED=$(SEED) scripts/test.sh --filter ServedSyncTests

# Many random mutations of archives, stores and change files, and edits of stores, so many of each of twelve; a failure
# prints its seed. To try that one again:
# make fuzz CASES=1 SEED=n
CASES = 2500
SEED = $(shell date +%s)
fuzz: deps
	GROCERYDUDE_FUZZ=$(CASES) GROCERYDUDE_FUZZ_SEED=$(SEED) scripts/test.sh --filter 'MutationTests|ChangeFuzzTests|PropertyListFuzzTests|ChangeScriptTests'

# What became of every zip and database of the test data beside the checkout, as two tables.
verdicts: deps
	mkdir -p .build/verdicts
	GROCERYDUDE_VERDICTS="$(CURDIR)/.build/verdicts" scripts/test.sh --filter 'Corpora(Zip|Database)Tests'
	cat .build/verdicts/*.txt

# The tests under the thread sanitizer and the address sanitizer; each has its own build.
sanitize: deps
	scripts/sanitize.sh thread address

lint:
	scripts/lint.sh

format:
	swift format --in-place --recursive --parallel Sources Tests Package.swift

demo: build
	scripts/demo.sh $(PROGRAM)

# Against its peers; for example: make benchmark ARGS=--quick
benchmark: build
	Benchmarks/install-peers.sh
	Benchmarks/benchmark.py --binary $(PROGRAM) $(ARGS)

# Manual pages and completions. Made once for each state of the sources, so that 'sudo make install'
# after 'make manual' finds all there and builds nothing as root.
manual: $(SHARE)/complete

$(SHARE)/complete: $(SOURCES)
	$(MAKE) build
	scripts/manual.sh $(PROGRAM) $(SHARE)
	touch $@

# The copy is stripped, to some 60 % of its size; the program that was built keeps its symbols.
install: $(SHARE)/complete
	install -d "$(bin)" "$(man)" "$(bash)" "$(zsh)" "$(fish)"
	install -s -m 755 $(PROGRAM) "$(bin)/grocerydude"
	install -m 644 $(SHARE)/man1/*.1 "$(man)"
	install -m 644 $(SHARE)/completions/grocerydude "$(bash)"
	install -m 644 $(SHARE)/completions/_grocerydude "$(zsh)"
	install -m 644 $(SHARE)/completions/grocerydude.fish "$(fish)"

# Packages, in .build/packages: for Debian and Ubuntu, and a tarball for any Linux. Libraries whose names differ between
# releases are linked into the program; see Documentation/Design/Packaging.md.
STATIC = $(CURDIR)/.build/static
.NOTPARALLEL: deb dist test-packages

# Packages are built in a directory whose path has 160 bytes wherever the checkout is: for 'withoutActuallyEscaping', which
# GRDB calls once, the compiler writes the length of the source's path into the program.
PACKAGES = $(CURDIR)/.build/packages-
PACKAGE_SCRATCH := $(PACKAGES)$(shell printf '%0*d' $$((160 - $$(printf '%s' '$(PACKAGES)' | wc -c))) 0)
deb dist: PROGRAM = $(PACKAGE_SCRATCH)/release/grocerydude
deb dist: SCRATCH = --scratch-path "$(PACKAGE_SCRATCH)" \
	-Xswiftc -file-prefix-map -Xswiftc "$(PACKAGE_SCRATCH)=.build" -Xcc "-ffile-prefix-map=$(PACKAGE_SCRATCH)=.build"

# Nothing in the program unwinds its stack: it throws no exceptions of C++, and Swift's backtraces follow frame pointers.
# So that two builds of a commit are the same bytes: without debug information, which names directories, with hashes and
# addresses that are the same in each run of the compiler, and with the commit as the program's build id.
PACKAGE_BUILD = SWIFT_DETERMINISTIC_HASHING=1 $(shell setarch -R true 2>/dev/null && echo setarch -R) \
	$(BUILD) -debug-info-format none \
	$(addprefix -Xlinker ,--no-eh-frame-hdr --script=Packaging/discard.ld --build-id=0x$(shell git rev-parse HEAD 2>/dev/null || echo 00))

# The packages are for systems whose glibc reads short relocations, so 2.36 and later.
deb: package-deps $(STATIC)/lib/complete $(COMMIT_OBJECT)
	PKG_CONFIG_PATH=$(STATIC)/deb $(PACKAGE_BUILD) $(addprefix -Xlinker ,-z pack-relative-relocs)
	scripts/manual.sh "$(PROGRAM)" $(SHARE)
	Packaging/package.sh deb "$(PROGRAM)" $(SHARE) .build/packages

dist: package-deps $(STATIC)/lib/complete $(COMMIT_OBJECT)
	PKG_CONFIG_PATH=$(STATIC)/dist $(PACKAGE_BUILD) $(addprefix -Xlinker ,$(STATIC)/dist/start.o -e older_start)
	scripts/manual.sh "$(PROGRAM)" $(SHARE)
	Packaging/package.sh dist "$(PROGRAM)" $(SHARE) .build/packages

$(STATIC)/lib/complete: Packaging/static-libraries.sh | package-deps
	Packaging/static-libraries.sh $(STATIC)

# Tries both packages in new systems of these releases, the tarball also with the oldest C library, and the steps of the
# Containerfile; needs root, debootstrap.
RELEASES = bookworm trixie noble
test-packages: deb dist
	Packaging/test-package.sh .build/packages/*.deb $(RELEASES) image
	Packaging/test-package.sh .build/packages/*.tar.gz bullseye $(RELEASES)

# Lint, tests, packages, their trial, checksums, the commit and the tag; nothing is pushed: make release VERSION=1.2.3
release:
	Packaging/release.sh $(VERSION)

uninstall:
	rm -f "$(bin)/grocerydude" "$(man)"/grocerydude.1 "$(man)"/grocerydude-*.1 \
		"$(bash)/grocerydude" "$(zsh)/_grocerydude" "$(fish)/grocerydude.fish"

clean:
	swift package clean
	rm -rf $(SHARE) "$(PACKAGE_SCRATCH)"
