"""What every reader begins and ends with: the text of a source, and a table of the promised
columns.
"""

import json
import os
from pathlib import Path

_TYPES = {
    "stream": "int64",
    "seq": "int64",
    "src": "object",
    "dst": "object",
    "congestion": "object",
    "omitted": "bool",
}


def read_text(source):
    """The text that `source` is, or names; of any Unicode encoding, and never refused for a byte
    that is not text.
    """
    if isinstance(source, os.PathLike) or (isinstance(source, str) and os.path.isfile(source)):
        data = Path(source).read_bytes()
        return data.decode(json.detect_encoding(data), errors="backslashreplace")
    if isinstance(source, str):
        return source
    raise TypeError(f"source must be a path or the text itself, not {type(source).__name__}")


def tidy(table, columns):
    """These columns in this order, each always of one type: a figure, where nothing else is said,
    is a float.
    """
    return table.reindex(columns=columns).astype(
        {column: _TYPES.get(column, "float64") for column in columns}
    )
