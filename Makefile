# Everything starts with `make setup`, which installs what is missing and takes a second when nothing is.

SHELL := bash
bin := .venv/bin
# by two workers; files, and groups that tests name, stay whole, in the order of tests/conftest.py
pytest := $(bin)/python -m pytest -n 2 --dist loadgroup --no-loadscope-reorder

.DEFAULT_GOAL := help
.PHONY: help setup engine engine-lock wheel demo course test test-all lab pages site record bench validation lock clean

help: ## list what there is to make
	@sed -En 's/^([a-z-]+):[^#]*## (.*)/  make \1\t\2/p' Makefile | expand -t 22

setup: ## install what is missing: system packages (binder/apt.txt), then .venv (requirements.lock)
	@binder/setup

engine: setup ## build the virtual-time guest: a few minutes, once
	$(bin)/netlab engine build

wheel: engine ## write netlab and its engine as two wheels, to dist/: pip installs them without a compiler, apt or root
	rm -f dist/netlab_tcp-*.whl dist/netlab_engine-*.whl
	$(bin)/python -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir dist .
	$(bin)/netlab engine wheel dist

engine-lock: setup ## renew netlab/engines/guest/engine.lock from the Debian mirror; SERIES=7.3 takes another kernel
	$(bin)/netlab engine lock $(if $(SERIES),--series $(SERIES))

demo: engine ## run the notebook on parallel streams live: prints a table, leaves out/02-parallel-streams.html
	mkdir -p out
	NETLAB_PROGRESS=off $(bin)/papermill --progress-bar --cwd notebooks notebooks/02-parallel-streams.ipynb out/02-parallel-streams.ipynb
	cp -R notebooks/images out/
	$(bin)/jupyter nbconvert --log-level WARN --to netlab.cli.pages.LivePage out/02-parallel-streams.ipynb
	@$(bin)/netlab summary out/02-parallel-streams.ipynb
	@echo; echo "The whole notebook, with its figures: out/02-parallel-streams.html"

course: engine ## grade problem set 1 of ten invented students live: prints their marks, leaves out/course/ps1-marks/class.html
	@$(bin)/netlab course demo -o out/course

test: engine ## run the tests but for the long ones: some minutes; ARGS="-k fairness" chooses some
	@binder/setup tests/apt.txt
	$(pytest) -m "not long" $(ARGS)

test-all: engine ## run all tests: half an hour; ARGS="-k fairness" chooses some
	@binder/setup tests/apt.txt
	$(pytest) $(ARGS)

lab: engine ## open the notebooks in JupyterLab
	$(bin)/jupyter lab $(if $(filter 0,$(shell id -u)),--allow-root) notebooks

pages: setup ## write the notebooks, as they are stored, to out/: HTML pages and PDFs that need no network
	@binder/setup tests/apt.txt
	$(bin)/netlab pages -o out
	@for page in $(patsubst notebooks/%.ipynb,out/%,$(wildcard notebooks/*.ipynb)); do \
		chromium --headless $(if $(filter 0,$(shell id -u)),--no-sandbox) --no-pdf-header-footer \
			--print-to-pdf="$$page.pdf" "file://$$PWD/$$page.html" 2>/dev/null && echo "$$page.pdf" || exit 1; \
	done

site: setup ## write the project's site to out/site: guides, notebooks as they are stored, reference; nothing is run
	$(bin)/codespell README.md CHANGELOG.md CONTRIBUTING.md docs netlab notebooks
	$(bin)/python docs/site/build.py out/site

record: engine ## run the notebooks live and store what they show, pictures and results; NOTEBOOKS="notebooks/01-*.ipynb" chooses some
	@binder/setup tests/apt.txt
	$(bin)/netlab record $(NOTEBOOKS)

bench: engine ## measure how fast the engine, sweeps and explorers are
	@binder/setup tests/apt.txt
	$(bin)/python -m pytest -s tests/benchmarks $(ARGS)

validation: engine ## measure the known answers with ten seeds, and write docs/validation.md; ARGS="links" chooses a topic
	@binder/setup tests/apt.txt
	$(bin)/python -m tests.validation $(if $(NS3_PYTHON),--ns3 $(NS3_PYTHON)) $(ARGS)

lock: setup ## renew requirements.lock from pyproject.toml: the newest versions its bounds allow
	test -x .setup/uv/bin/uv || { $(bin)/python -m venv .setup/uv && .setup/uv/bin/pip install --quiet uv; }
	.setup/uv/bin/uv pip compile --upgrade --universal --python-version 3.11 --fork-strategy fewest --generate-hashes \
		--all-extras --group build --no-annotate --custom-compile-command "make lock" --quiet -o requirements.lock pyproject.toml
	binder/setup && $(bin)/python -m pip check

clean: ## remove what is made again; kept are the engine, in its cache, and out/, where your own files may be
	if [ -e .venv/.setup ]; then rm -rf .venv; elif [ -e .venv ]; then echo ".venv stays: make did not make it"; fi
	rm -rf .setup .pytest_cache .ruff_cache .hypothesis
	rm -f dist/netlab_tcp-*.whl dist/netlab_engine-*.whl
	find netlab tests -name __pycache__ -type d -prune -exec rm -rf {} +
