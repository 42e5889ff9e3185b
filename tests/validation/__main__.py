"""Measure the known answers, and write docs/validation.json, docs/validation.md and its figures."""

import argparse
import concurrent.futures
import json
import math
import os
import subprocess
from pathlib import Path

from netlab.errors import NetlabError
from tests import guest_here, of_this_engine
from tests.validation import SEEDS, TOPICS, answers, page


def measured(name, seed):
    """A known answer with one seed; runs that answers of a topic share are made once."""
    return float(f"{answers()[name].measure(seed):.6g}")


def measured_all(names, seed):
    return {name: measured(name, seed) for name in names}


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.validation", description=__doc__)
    parser.add_argument("names", nargs="*", help="a topic or an answer: links, links/idle-ping")
    parser.add_argument("--seeds", type=int, default=SEEDS, help="how many [%(default)s]")
    parser.add_argument(
        "--workers", type=int, default=os.cpu_count(), help="guests at once [%(default)s]"
    )
    parser.add_argument(
        "--column",
        choices=["engine", "second"],
        default="engine",
        help="the column of the page that this engine is [%(default)s]",
    )
    parser.add_argument("--ns3", metavar="PYTHON", help="ask ns-3 first, by a Python that has it")
    parser.add_argument(
        "--page",
        action="store_true",
        help="write the page from what is stored; with --ns3, ask ns-3 first",
    )
    options = parser.parse_args()
    everything = answers()
    if unknown := [name for name in options.names if name not in {*everything, *TOPICS}]:
        parser.error(f"unknown: {', '.join(unknown)}; topics: {', '.join(TOPICS)}")
    chosen = [
        name
        for name, one in everything.items()
        if not options.names or {name, one.topic} & {*options.names}
    ]
    stored = page.stored()
    stored["answers"] = {n: row for n, row in stored["answers"].items() if n in everything}
    if not options.page:
        build = engine_to_measure(parser, stored["engines"], chosen, options.column)
    if options.ns3:
        ask_ns3(stored, options.ns3)
    failed = [] if options.page else measure(stored, build, chosen, options)
    page.write(stored)
    if failed:
        raise RuntimeError(f"no value with some seed: {', '.join(failed)}")


def engine_to_measure(parser, engines, chosen, column):
    """The `Build` that runs here, where its values may stand in this column."""
    try:
        build = guest_here()
    except NetlabError as error:
        parser.error(str(error))
    kept = engines.get(column)
    if kept and not of_this_engine(kept["digest"]) and len(chosen) < len(answers()):
        parser.error(f"stored values are of engine {kept['digest']}: measure all answers")
    first = engines.get("engine")
    if column == "second" and first and of_this_engine(first["digest"]):
        parser.error(f"{build.digest} is the engine of the first column: a second one has others")
    return build


def ask_ns3(stored, python):
    """Store what ns-3 says; its Python has other packages than this one."""
    script = Path(__file__).with_name("ns3_side.py")
    told = subprocess.run([python, "-I", script], stdout=subprocess.PIPE, check=True, text=True)
    found = json.loads(told.stdout.splitlines()[-1])
    if unknown := found["values"].keys() - answers().keys():
        raise ValueError(f"ns-3 answers what nobody asks: {', '.join(sorted(unknown))}")
    for row in stored["answers"].values():
        row.pop("ns3", None)
    stored["engines"]["ns3"] = found["version"]
    for name, value in found["values"].items():
        stored["answers"].setdefault(name, {})["ns3"] = [value]
    write(stored)


def write(stored):
    page.JSON.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")


def measure(stored, build, chosen, options):
    """Store the answers that have a value with each seed; the names of the others, which keep what
    they had.
    """
    column, engines = options.column, stored["engines"]
    if column in engines and not of_this_engine(engines[column]["digest"]):
        for row in stored["answers"].values():
            row.pop(column, None)
    engines[column] = {"digest": build.digest, "kernel": build.about["kernel"]}
    by_topic = {topic: [n for n in chosen if n.startswith(f"{topic}/")] for topic in TOPICS}
    found = {name: {} for name in chosen}
    with concurrent.futures.ProcessPoolExecutor(options.workers) as pool:
        jobs = {
            pool.submit(measured_all, names, seed): (topic, seed)
            for seed in range(1, options.seeds + 1)
            for topic, names in by_topic.items()
            if names
        }
        for done, job in enumerate(concurrent.futures.as_completed(jobs), 1):
            topic, seed = jobs[job]
            if error := job.exception():
                print(f"\n{topic}, seed {seed}: {type(error).__name__}: {error}")
            else:
                for name, value in job.result().items():
                    found[name][seed] = value
            print(f"\r{done} of {len(jobs)} topics and seeds", end="", flush=True)
    print()
    failed = []
    for name, values in found.items():
        if len(values) == options.seeds and all(map(math.isfinite, values.values())):
            row = stored["answers"].setdefault(name, {})
            row[column] = [values[seed] for seed in sorted(values)]
            one = answers()[name]
            shown = page.shown(one, row[column])
            print(f"{name}: {shown}, expected {one.expected:.6g} ± {one.margin:.3g} {one.unit}")
        else:
            failed.append(name)
    write(stored)
    return failed


if __name__ == "__main__":
    main()
