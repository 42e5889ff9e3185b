"""What an engine consists of: packages, their licences, and where their sources are."""

from pathlib import Path
from urllib.parse import quote

from netlab.engines.files import check, write
from netlab.engines.guest import packages, store

BILL = "engine.cdx.json"


def bill_of_materials(build):
    """An engine's packages, as a CycloneDX 1.6 document.

    Paths below ``pool/`` are in Debian's archive; those of licences are in the exported file.
    """
    lock = packages.read_lock()
    sources = {(source["name"], source["version"]): source["files"] for source in lock["sources"]}
    components = []
    for package in lock["packages"]:
        licence = f"{build.rootfs.name}/{store.ARCHIVE}/usr/share/doc/{package['name']}/copyright"
        files = sources[package["source"], package["source_version"]]
        components.append(component("library", package, licence, files))
    kernel, licence = lock["kernel"], f"{build.linux.parent.name}/copyright"
    if build.record["source_sha256"] == kernel["tarball_sha256"]:
        files = sources[kernel["source"], kernel["source_version"]]
        linux = component("operating-system", kernel, licence, files)
    else:  # built with --kernel-source
        tarball = {"path": build.about["source"], "sha256": build.record["source_sha256"]}
        where = [reference("source-distribution", tarball), {"type": "license", "url": licence}]
        linux = {"type": "operating-system", "name": "linux", "version": build.about["kernel"]}
        linux["externalReferences"] = where
    texts = [
        path.read_text(encoding="utf-8") for path in store.KERNEL_RECIPE if path.suffix == ".patch"
    ]
    patches = [{"type": "unofficial", "diff": {"text": {"content": text}}} for text in texts]
    linux["pedigree"] = {"patches": patches}
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "metadata": {
            "component": {"type": "platform", "name": "netlab-engine", "version": build.digest},
            "properties": [{"name": "debian:snapshot", "value": lock["snapshot"]}],
        },
        "components": [*components, linux],
    }


def component(kind, package, licence, sources):
    architecture = Path(package["path"]).stem.rpartition("_")[2]
    name, version = quote(package["name"]), quote(package["version"])
    url = f"pkg:deb/debian/{name}@{version}?arch={architecture}"
    return {
        "type": kind,
        "bom-ref": url,
        "name": package["name"],
        "version": package["version"],
        "purl": url,
        "externalReferences": [
            reference("distribution", package),
            *(reference("source-distribution", file) for file in sources),
            {"type": "license", "url": licence},
        ],
    }


def reference(kind, file):
    hashes = [{"alg": "SHA-256", "content": file["sha256"]}]
    return {"type": kind, "url": quote(file["path"]), "hashes": hashes}


def begun(data):
    """As `ours` of `netlab.engines.files.replacing`: has the file this, or its beginning?"""
    return lambda file: data.startswith(file.read(len(data) + 1))


def fetch_sources(folder):
    """Fetch the sources of all that the lock names, and netlab's patches; -> files, bytes."""
    own = {folder / path.name: path.read_bytes() for path in store.RECIPE}
    for path, data in own.items():  # a file with other contents stays
        check(path, "FOLDER", begun(data))
    lock = packages.read_lock()
    files = [file for source in lock["sources"] for file in source["files"]]
    paths = packages.fetch(
        [*files, lock["kernel"]],
        folder,
        lock["snapshot"],
        "Sources",
        f"The others are in {folder}; the same command goes on from there.",
    )
    for path, data in own.items():
        write(path, data, "FOLDER", begun(data))
    paths += own
    return len(paths), sum(path.stat().st_size for path in paths)
