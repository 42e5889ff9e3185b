"""x"""

from netlab.engines.guest.store import cache_folder
import time


def save(name, files):
    folder = (
        cache_folder()
        / "evidence"
        / f"{time.strftime('%Y%m%d-%H%M%S')}-{name}-{time.monotonic_ns() % 10**6:06d}"
    )
    folder.mkdir(parents=True)
    for n, t in files.items():
        (folder / n).write_bytes(t if isinstance(t, bytes) else t.encode())
    return f"Everything it left is in {folder}"
