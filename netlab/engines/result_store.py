"""Results in a folder, found by their experiment and the engine that left them.

A new result is an archive of its own, ``<key>.zip``; those of a notebook share one. An archive is a
zip of blocks, ``0.xz``, ``1.xz`` ...: some megabytes of similar results, a line of JSON each, under
one LZMA, which takes half of the space of a file each; and ``index.xz``: for each result its block
and line, its key, and its experiment. The same results make the same bytes, as far as the version
of liblzma is the same.
"""

import contextlib
import functools
import hashlib
import io
import json
import os
import re
import zipfile
from collections import namedtuple
from pathlib import Path

from netlab.engines import files
from netlab.errors import EngineError

PARTS = ("experiment", "commands", "provenance", "raw")  # of a record: a result as a dict
BLOCK_BYTES = 4_000_000  # 15 ms to decompress; with twice as much, archives are 4 % smaller
SMALLEST, QUICKEST = 6 | 1 << 31, 1  # of xz's presets; the quickest makes files a third larger
OWN = r"[0-9a-f]{16}-[\w.]+\.zip"  # the name of an archive of one result
# Digest of the reference run's output on each published engine (`netlab doctor`)
PUBLISHED = Path(__file__).parent / "guest" / "reference.json"
Entry = namedtuple("Entry", "block line key experiment")  # of an index, as texts


def published(digest):
    """Digest of the reference run's raw output on the published engine of this digest, or None."""
    return json.loads(PUBLISHED.read_text(encoding="utf-8")).get(str(digest))


def result_name(digest):
    """One name for the results of all engines that leave the same bytes: the beginning of their
    published reference run's digest; of another engine, its own digest.
    """
    return (published(digest) or "")[:12] or digest


def engine_key(name, digest):
    """A `result_name` as a part of a file's name; without a digest, the engine's name."""
    return re.sub(r"[^\w.]", "_", str(result_name(digest) or name))


def as_dict(experiment):
    return json.loads(experiment.to_json())


def experiment_key(experiment):
    """A digest of an experiment (a dict), whatever the order of its keys."""
    return hashlib.sha256(json.dumps(experiment, sort_keys=True).encode()).hexdigest()[:16]


def key_of(record):
    engine, digest = (record["provenance"][name] for name in ("engine", "engine_digest"))
    return f"{experiment_key(record['experiment'])}-{engine_key(engine, digest)}"


def alike(one, other):
    """Have two records the same key and, on the virtual clock, the same output? Other clocks never
    repeat.
    """
    real = one["provenance"]["clock"] != "virtual"
    return key_of(one) == key_of(other) and (real or one["raw"] == other["raw"])


def packed_result(result):
    """The bytes of an archive of one `Result`."""
    return packed([vars(result) | {"experiment": as_dict(result.experiment)}], QUICKEST)


def packed(records, preset=SMALLEST):
    """The bytes of an archive of records."""
    import lzma  # not part of Python in a browser, where only records need it

    lines = {json.dumps({part: one[part] for part in PARTS}): one for one in records}
    blocks, index, size = [], [], BLOCK_BYTES
    for line in sorted(lines):  # similar ones together
        if size + len(line) > BLOCK_BYTES:
            blocks, size = [*blocks, []], 0
        key, experiment = key_of(lines[line]), json.dumps(lines[line]["experiment"])
        index.append(f"{len(blocks) - 1} {len(blocks[-1])} {key} {experiment}")
        blocks[-1].append(line)
        size += len(line)
    with zipfile.ZipFile(buffer := io.BytesIO(), "w") as archive:
        for name, texts in [*enumerate(blocks), ("index", index)]:
            member = zipfile.ZipInfo(f"{name}.xz")  # without a time
            member.create_system, member.external_attr = 3, 0o644 << 16  # the same on Windows
            archive.writestr(member, lzma.compress("\n".join(texts).encode(), preset=preset))
    return buffer.getvalue()


def lines_in(file, name):
    """The lines of a block of an archive, or of its index; a ValueError where it is damaged."""
    import lzma

    try:
        with zipfile.ZipFile(file) as archive:
            return lzma.decompress(archive.read(f"{name}.xz")).split(b"\n")
    except Exception as error:  # zipfile and lzma raise errors of many classes
        raise ValueError(error) from None


def unpacked(data):
    """The record in an archive of one."""
    return json.loads(lines_in(io.BytesIO(data), 0)[0])


@functools.lru_cache(6)  # blocks: a sweep reads many results of a few
def lines_of(path, version, name):
    with path.open("rb") as file:
        if version_of(os.fstat(file.fileno())) != version:
            raise ValueError("it was replaced while it was read")
        return lines_in(file, name)


@functools.lru_cache(64)
def entries_of(path, version):
    return [Entry(*line.decode().split(" ", 3)) for line in lines_of(path, version, "index")]


def version_of(status):
    return status.st_mtime_ns, status.st_ino, status.st_size


class Archive:
    """An archive as it is now; what is wrong with it is an EngineError."""

    def __init__(self, path):
        self.path, self.version = path, version_of(path.stat())

    def entries(self):
        return self.read(entries_of)

    def records(self):
        return [self.record(entry) for entry in self.entries()]

    def record(self, entry):
        return json.loads(self.read(lines_of, entry.block)[int(entry.line)])

    def read(self, part, *arguments):
        try:
            return part(self.path, self.version, *arguments)
        except (OSError, ValueError) as error:
            raise EngineError(
                f"{self.path} does not hold results of netlab, or no longer: {error}. Put it back"
                " as it was, or delete it and record its experiments again, with NETLAB_RECORD=on"
                " or `netlab record`"
            ) from error


class ResultStore:
    """The results in a folder, which need not be there yet."""

    def __init__(self, place):
        self.place = Path(place)

    def archives(self, begin=""):
        """Those of one result, the newest first, whose names begin so; then the others, by name."""
        own, shared = [], []
        for path in files.named(self.place, r"[^.].*\.zip"):
            with contextlib.suppress(FileNotFoundError):  # another process may just have packed it
                if not re.fullmatch(OWN, path.name):
                    shared.append(Archive(path))
                elif path.name.startswith(begin):
                    own.append(Archive(path))
        return sorted(own, key=lambda one: one.version, reverse=True) + shared

    def entries(self):
        """Each archive with each of its entries."""
        return [(archive, entry) for archive in self.archives() for entry in archive.entries()]

    def records(self):
        return [record for archive in self.archives() for record in archive.records()]

    def find(self, experiment, engine=""):
        """The record of an experiment, or None; an EngineError where it is damaged. `engine`: an
        `engine_key`, where only its results count.
        """
        key = experiment_key(as_dict(experiment))
        for archive in self.archives(key):
            for entry in archive.entries():
                if entry.key.startswith(key) and engine in ("", entry.key[17:]):
                    return archive.record(entry)
        return None

    def path(self, experiment, engine):
        """The archive of its own of a result."""
        return self.place / f"{experiment_key(as_dict(experiment))}-{engine}.zip"

    def record(self, result):
        """Keep a `Result`, unless the record of its experiment has the same output."""
        record = unpacked(data := packed_result(result))
        with locked(self.place):
            with contextlib.suppress(EngineError):  # a damaged one
                kept = self.find(result.experiment)
                if kept and alike(kept, record) and kept["raw"] == record["raw"]:
                    return
            files.write(self.place / f"{key_of(record)}.zip", data)

    def pack(self, records, name, keep=None):
        """Put records into shared archives, in place of others of their experiments unless they are
        `alike`; new experiments into that of this name; -> how many are new. `keep`: keys of
        experiments, the only ones that stay. What does not change keeps its bytes.
        """
        new, count = {experiment_key(record["experiment"]): record for record in records}, 0
        with locked(self.place):
            named, archives = self.place / f"{name}.zip", self.archives()[::-1]
            shared = [one for one in archives if not re.fullmatch(OWN, one.path.name)]
            homes = {entry.key[:16]: one.path for one in shared for entry in one.entries()}
            for path, archive in ({named: None} | {one.path: one for one in archives}).items():
                kept = archive.records() if archive else []
                before = {experiment_key(record["experiment"]): record for record in kept}
                stay = before.keys() - new.keys() if keep is None else before.keys() & keep - {*new}
                after = {key: before[key] for key in stay}
                for key in [key for key in new if homes.get(key, named) == path]:
                    same = key in before and alike(before[key], new[key])
                    after[key] = (before if same else new)[key]
                    count += not same
                if not after:
                    path.unlink(missing_ok=True)
                elif after != before:
                    files.write(path, packed(after.values()))
        return count


@contextlib.contextmanager
def locked(folder):
    """Hold a folder, made where it is missing, for one process that writes."""
    import fcntl  # not on every system, and needed only where notebooks are recorded

    folder.mkdir(parents=True, exist_ok=True)
    lock = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)
