# Longer work than `go test ./...`, and the names of the usual things.
.PHONY: test ci demo generate golden bench fuzz mutate

test:
	.ci/test

ci:
	.ci/run

demo:
	.ci/demo

generate:
	go generate ./...
	go build -o out/opassert ./cmd/opassert
	for module in arrow example gonum spago; do (cd testdata/$$module/kernels && ../../../out/opassert gen -schema ../ops.yaml -kernels . -out ../ops) || exit; done

# What follows from a new check: the generated code, the tables of checks in the pages, the public names, and
# goldens of its own, until they are committed. Those of other checks are compared: a wrong rule
# rewrites none.
golden: generate
	go test ./asserts -run TestNotesOnThePage -update
	go test ./asserts ./gen/plan ./gen/internal/emit ./internal/testbed/selftest -add
	go test ./cmd/opassert -run 'TestReadmeHasEveryCheck|TestChecksPage|TestPublicNames' -update

bench:
	go test -run '^$$' -bench . -benchmem ./...

mutate:
	.ci/mutate

FUZZTIME ?= 10m
fuzz:
	.ci/fuzz $(FUZZTIME)
