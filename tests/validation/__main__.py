"""Measure the known answers, and write their page: see `python -m tests.validation --help`."""

import argparse
import concurrent.futures
import json
import math
import os
import subprocess
from pathlib import Path

from netlab.engines.guest import store
from tests.validation import TOPICS, answers, page


def measured(name, seed):
    """A known answer with one seed; runs that answers of a topic share are made once."""
    return float(f"{answers()[name].measure(seed):.6g}")


def measured_topic(topic, names, seed):
    return {name: measured(name, seed) for name in names}


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.validation", description=__doc__)
    parser.add_argument("names", nargs="*", help="a topic or an answer: links, links/idle-ping")
    parser.add_argument("--seeds", type=int, default=10, help="how many [%(default)s]")
    parser.add_argument("--workers", type=int, default=os.cpu_count(), help="[%(default)s]")
    parser.add_argument("--column", choices=["engine", "second"], default="engine")
    parser.add_argument("--ns3", metavar="PYTHON", help="ask ns-3, too, by a Python that has it")
    parser.add_argument("--page", action="store_true", help="measure nothing of this engine")
    options = parser.parse_args()
    everything = answers()
    chosen = [
        name
        for name in everything
        if not options.names or {name, name.split("/")[0]} & {*options.names}
    ]
    if not chosen:
        parser.error(f"none of these is known: {options.names}; topics: {', '.join(TOPICS)}")
    stored = page.stored()
    if options.ns3:
        ask_ns3(stored, options.ns3)
    if not options.page:
        measure(stored, chosen, options)
    page.write(stored)


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


def measure(stored, chosen, options):
    build = store.current()
    engine = {"digest": build.digest, "kernel": build.about["kernel"]}
    if stored["engines"].get(options.column) != engine:
        for row in stored["answers"].values():
            row.pop(options.column, None)  # of another engine
    stored["engines"][options.column] = engine
    by_topic = {topic: [n for n in chosen if n.startswith(f"{topic}/")] for topic in TOPICS}
    found = {name: {} for name in chosen}
    with concurrent.futures.ProcessPoolExecutor(options.workers) as pool:
        jobs = {
            pool.submit(measured_topic, topic, names, seed): seed
            for seed in range(1, options.seeds + 1)
            for topic, names in by_topic.items()
            if names
        }
        for done, job in enumerate(concurrent.futures.as_completed(jobs), 1):
            for name, value in job.result().items():
                found[name][jobs[job]] = value
            print(f"\r{done} of {len(jobs)} topics and seeds", end="", flush=True)
    print()
    for name, values in found.items():
        if not all(map(math.isfinite, values.values())):
            raise ValueError(f"{name} has no value with some seed: {values}")
        row = stored["answers"].setdefault(name, {})
        row[options.column] = [values[seed] for seed in sorted(values)]
    write(stored)


if __name__ == "__main__":
    main()
