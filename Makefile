# The ways in. Each target installs what it needs (Debian, by apt-get), and says what it does.
.DEFAULT_GOAL := help
.PHONY: demo build test bench bench-peers soak format check clean help

demo: ## Build, start a server, import a session, play another one live: then open the page
	@tools/build.sh && tools/demo.sh

build: ## The release program, at build/holdfast
	@tools/build.sh

test: ## All tests: units, suites, protocol conformance, browser
	@tools/test.sh

bench: ## The benchmarks: one table, and build/bench.jsonl
	@tools/bench.sh

bench-peers: ## The same figures of other stores and servers, side by side
	@tools/bench_peers.sh

soak: ## Kill and restart in loops, and check what was promised
	@tools/soak.sh

format: ## Format the sources
	@tools/format.sh

check: ## Formatting, layers, words and lint
	@tools/check.sh

clean: ## Remove what was built
	@rm -rf build

help: ## What there is
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
