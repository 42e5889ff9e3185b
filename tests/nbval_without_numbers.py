"""A plugin for nbval: words are compared, but neither numbers nor figures; for a notebook that an
engine of another kernel runs.
"""

import re

from nbval.plugin import IPyNbCell


def words(cell, data):
    """Called by nbval for all that it compares."""
    return re.sub(r"[\d.,e+-]*\d", "#", data).split() if isinstance(data, str) else None


IPyNbCell.sanitize = words
