# make          build ./ptxlink
# make release  build the binaries, archives and packages of a release in dist
# make release-twice  build a release twice, and compare the bytes
# make release-chroot  install the packages in a bare Debian, and use them there (needs root)
# make publish MODULE=...  write a clone whose import path is MODULE, to push there, to dist/publish
# make web      write dist/ptxlink.html, a page that links in the browser
# make clib     write the C library to dist/c; TARGET=aarch64-macos writes that of another system to dist/c-aarch64-macos, with Zig
# make clib-windows  write the C library for Windows to dist/c-windows, and run its test with Wine
# make nvjitlink  write libraries that take the place of NVIDIA's nvJitLink to dist/nvjitlink
# make nvjitlink-cases  compare them with NVIDIA's 12.4, 12.9 and 13.5, and write integrations/c/nvjitlink-cases.md
# make install  install ptxlink, its manual pages, completions, documentation, and packages for CMake and pkg-config, under DESTDIR and PREFIX
# make test     fetch the oracles and run the tests, except those that take long, and list the skipped ones
# make test-all  fetch compilers, Bazel and a browser too, and run all tests
# make race     run the tests of the packages with the race detector, except those of single modules
# make test-arm64  run the tests of the packages, and the scripts, as programs for arm64, with qemu-user-static of Debian
# make test-remote  build with Bazel, and keep cubins, on a remote-execution server on loopback
# make lint     gofmt, go vet, staticcheck, go mod tidy, shell syntax
# make bench    time ptxlink beside cat, nvptx-none-ld and nvlink, and write docs/benchmarks.md
# make route    print tables of the ways from modules to a cubin, for docs/ptxas.md
# make codegen  compare the machine code of small programs with and without -O, and write docs/codegen.md
# make real DIR=...   compile and link the programs in DIR that bench/real/programs.go names, and write docs/real-programs.md
# make bench SETS=M,symbols ROUNDS=3   print tables of some sets
# make fuzz     fuzz the parsers, the linker and the checks, ten minutes each
# make differential SETS=2000  link random sets of modules, and compare with nvlink
# make simulate  compare the PTX interpreter of the tests with programs compiled for the host
# make equivalence  compare what such programs, and modules written in PTX, do unlinked, linked and optimised
# make equivalence REAL=DIR   the same for the PTX files in each directory below DIR
# make gpu      compare the interpreter with the GPU of this machine, on such programs and on each instruction
# make corpus   link what real compilers make of testdata/src at many settings

GO ?= go
FUZZTIME ?= 10m
SEED ?= 1000
RACE = ./object/... ./resolve/... ./abicheck/... ./link/...
# These spend their time in other programs, or interpret one module after another.
ALONE = TestDeclarations|TestEmbedder|TestMixedAlignments|TestDebugVerify|TestFoldRandom|TestDescribesOutput|TestInstructions|TestSyscalls|TestSectionCorpus|TestDeclaredTypes|TestNote

# urfave/cli's own manual pages come with a reader of Markdown that takes 0.5 ms at every
# start. ptxlink makes its pages without it.
TAGS = urfave_cli_no_docs
ptxlink: FORCE
	$(GO) build -tags $(TAGS) -o $@ ./cmd/ptxlink

# The tools that tests compare with are large and not ours to ship; fetch.sh
# keeps them in a cache outside the tree.
oracles: FORCE
	internal/oracles/fetch.sh

# Tests have no limits of time of their own, and go test's is for those that hang. cmd/ptxlink takes 6 minutes
# on two busy cores, and more beside other programs.
TIMEOUT ?= 2h
test: oracles
	$(GO) run ./internal/gotest -timeout $(TIMEOUT) -short ./...

test-all: FORCE
	internal/oracles/fetch.sh --compilers
	$(GO) run ./internal/gotest -timeout $(TIMEOUT) ./...

race: oracles
	CGO_ENABLED=1 $(GO) test -timeout $(TIMEOUT) -race -short -skip '$(ALONE)' $(RACE)

test-arm64: oracles
	GOARCH=arm64 $(GO) test -timeout $(TIMEOUT) -short $(RACE)
	GOARCH=arm64 $(GO) test -timeout $(TIMEOUT) -short -run TestScripts ./cmd/ptxlink

test-remote: ptxlink
	internal/oracles/fetch.sh --compilers
	tools=$$(internal/oracles/fetch.sh --print-dir)/bin && python3 integrations/cache/test_reapi.py ./ptxlink $$tools/ptxas && \
	python3 integrations/bazel/remote/run.py $$tools/bazel $$tools/ptxas ./ptxlink

# The modules of staticcheck stay out of go.mod, which users of package link read.
lint:
	@test -z "$$(gofmt -l .)" || { gofmt -l .; echo 'run gofmt -w on these'; exit 1; }
	$(GO) vet ./...
# make release builds the other systems, whose files differ less.
	GOOS=windows $(GO) vet ./...
	$(GO) tool -modfile=internal/tools/go.mod staticcheck ./...
	$(GO) mod tidy -diff
	bash -n internal/oracles/fetch.sh internal/release/*.sh integrations/c/*.sh .ci/run
# What a tool leaves in the tree must not be committed with it.
	@large=$$(git ls-files -z | xargs -0 -r stat -c '%s %n' | awk '$$1 > 1048576'); \
	test -z "$$large" || { echo "$$large"; echo 'files over 1 MiB do not belong in the tree'; exit 1; }

# A quick look does not replace the page.
bench:
	$(GO) run ./bench $(if $(SETS)$(ROUNDS),-sets "$(SETS)" -rounds $(or $(ROUNDS),7),-o docs/benchmarks.md)

codegen:
	$(GO) run ./bench/codegen -o docs/codegen.md

# RELEASE=13.5 prints the tables for that release and writes no page.
real:
	@test -n "$(DIR)" || { echo 'make real DIR=...: a directory with the sources that bench/real/programs.go names'; exit 2; }
	internal/oracles/fetch.sh --compilers
	$(GO) run ./bench/real -dir "$(DIR)" $(if $(RELEASE),-cuda $(RELEASE),-o docs/real-programs.md)

route: oracles
	$(GO) run ./bench -sets shared,few,apart,large -rounds 9

# Minimising each new input takes longer than running it.
FUZZ = -run xxx -fuzztime $(FUZZTIME) -fuzzminimizetime 1x
fuzz:
	$(GO) test ./object/ptx $(FUZZ) -fuzz FuzzParse
	$(GO) test ./link $(FUZZ) -fuzz FuzzLink
	$(GO) test ./link $(FUZZ) -fuzz FuzzCollect
	$(GO) test ./link/optimize $(FUZZ) -fuzz FuzzOptimize
	for form in FuzzOpen FuzzAr FuzzCubin FuzzBitcode FuzzFatbin FuzzELF FuzzCOFF FuzzOffload FuzzPackage FuzzWritePackage; do \
		$(GO) test ./object/container $(FUZZ) -fuzz $$form || exit 1; done
	$(GO) test ./object $(FUZZ) -fuzz FuzzMeta
	$(GO) test ./object/ptx $(FUZZ) -fuzz FuzzSection
	$(GO) test ./link/debuginfo $(FUZZ) -fuzz 'FuzzMerge$$'
	$(GO) test ./link/debuginfo $(FUZZ) -fuzz FuzzMergeLists
	$(GO) test ./abicheck/atomics $(FUZZ) -fuzz FuzzAtomics
	$(GO) test ./abicheck/dwarftypes $(FUZZ) -fuzz FuzzDebugTypes
	$(GO) test ./abicheck/ctype $(FUZZ) -fuzz FuzzParse

# Without SETS it goes on until it is interrupted.
differential: oracles
	$(GO) run ./internal/differential -seed $(SEED) -sets $(or $(SETS),0) -o differences

PROGRAMS ?= 200
simulate:
	internal/oracles/fetch.sh --compilers
	mkdir -p differences
	PTXLINK_PROGRAMS=$(PROGRAMS) PTXLINK_SEED=$(SEED) $(GO) test ./internal/ptxsim/kernels -run 'TestKernels$$' -timeout 0 -v -artifacts -outputdir $(CURDIR)/differences

# ASSEMBLE=n assembles the outputs of every nth program.
ASSEMBLE ?= 8
MODULES ?= 2000
equivalence:
	internal/oracles/fetch.sh --compilers
ifdef REAL
	$(GO) run ./internal/equivalence -real "$(REAL)" -ptxas $(ASSEMBLE) -o differences
else
	$(GO) run ./internal/equivalence -seed $(SEED) -programs $(PROGRAMS) -sets $(MODULES) -ptxas $(ASSEMBLE) -o differences; status=$$?; \
	PTXLINK_MODULES=$(MODULES) $(GO) test ./link/optimize -run 'TestRandom$$|TestFoldRandom$$' -timeout 0 -short -v && exit $$status
endif

gpu:
	internal/oracles/fetch.sh --compilers
	mkdir -p differences
	PTXLINK_GPU=$(CURDIR)/differences/isa $(GO) test ./internal/ptxsim -run 'TestISAOperands$$' -count 1
	$(GO) run ./internal/equivalence -seed $(SEED) -programs $(PROGRAMS) -sets 0 -ptxas 0 -gpu differences/programs -o differences
	cc -O internal/ptxsim/gpu/run/gpu.c -ldl -o differences/gpu
	differences/gpu differences/isa && differences/gpu differences/programs

corpus:
	testdata/src/corpus.sh

# Packagers set DESTDIR; PREFIX=$$HOME/.local needs no root.
PREFIX ?= /usr/local
SHARE = $(DESTDIR)$(PREFIX)/share
install: ptxlink
	mkdir -p $(DESTDIR)$(PREFIX)/bin
	cp ptxlink $(DESTDIR)$(PREFIX)/bin/
	internal/release/share.sh ./ptxlink $(SHARE)

# TARGETS="linux/amd64" builds for one platform.
release: FORCE
	internal/release/build.sh dist

release-twice:
	internal/release/twice.sh

release-chroot: release
	internal/release/chroot.sh dist/ptxlink_*_$$($(GO) env GOHOSTARCH).deb dist/ptxlink-*.$$(uname -m).rpm

# The public import path, such as github.com/NAME/ptxlink, once there is one.
MODULE ?=
publish: FORCE
	rm -rf dist/publish
	internal/release/publish.sh "$(MODULE)" dist/publish

web:
	mkdir -p dist
	$(GO) run ./integrations/web -o dist/ptxlink.html

VERSION = $$(internal/release/version.sh ./ptxlink)
ZIG = $(CURDIR)/integrations/c/zig.sh
clib: ptxlink
	$(if $(TARGET),CC="$(ZIG) cc -target $(TARGET)" AR="$(ZIG) ar") integrations/c/build.sh dist/c$(if $(TARGET),-$(TARGET)) "$(VERSION)"

clib-windows: ptxlink
	integrations/c/windows.sh dist/c-windows "$(VERSION)"

nvjitlink: FORCE
	integrations/c/nvjitlink.sh dist/nvjitlink

nvjitlink-cases: nvjitlink ptxlink
	integrations/c/nvjitlink_cases.sh dist/nvjitlink ./ptxlink

clean:
	rm -rf ptxlink dist

FORCE:
.PHONY: FORCE oracles test test-all test-arm64 test-remote lint bench codegen real route fuzz differential simulate equivalence gpu corpus install release release-twice release-chroot publish web clib clib-windows nvjitlink nvjitlink-cases clean
