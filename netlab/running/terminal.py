"""What programs print, without the escape sequences by which they set a terminal's colours, titles
and cursor.

The forms are those of ECMA-48: control sequences, as in ``ESC [ 31 m``; strings, as in
``ESC ] 0 ; title BEL``; and short ones, as in ``ESC ( B``.
"""

import re

# The lengths are bounded, so that a sequence which never ends holds back little.
_PARAMETERS, _MIDDLE = "[0-?]{0,200}[ -/]{0,9}", "[ -/]{0,9}"
_STRING = r"[\]PX^_][^\x07\x1b\n]{0,2000}"
_ESCAPE = re.compile(
    rf"\x1b(?:\[{_PARAMETERS}[@-~]|{_STRING}(?:\x07|\x1b\\)?|{_MIDDLE}[0-OQ-WYZ\\`-~])?"
)
_UNFINISHED = re.compile(rf"\x1b(?:\[{_PARAMETERS}|{_STRING}\x1b?|{_MIDDLE})\Z")


def plain(text):
    """The text without its escape sequences."""
    return _ESCAPE.sub("", text) if "\x1b" in text else text


class Plain:
    """`plain` for a text that comes in pieces: a sequence that has begun is held back until its end
    is there.
    """

    def __init__(self):
        self._held = ""

    def add(self, piece):
        """What can be shown now that this piece has come."""
        text = self._held + piece
        unfinished = _UNFINISHED.search(text)
        end = unfinished.start() if unfinished else len(text)
        self._held = text[end:]
        return plain(text[:end])

    def rest(self):
        """What can be shown of a sequence whose end never came."""
        return plain(self._held)
