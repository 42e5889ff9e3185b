"""Students' ids: which are the same, which are refused, and those of a course."""

import hashlib
import re
import unicodedata

from netlab.errors import SpecificationError

LONGEST = 100  # characters
REFUSED = ("Cc", "Cn", "Co", "Cs", "Zl", "Zp")  # Unicode's categories of what no name has
UNSEEN = re.compile(  # letters and marks without a glyph; those of the category Cf go, too
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
TURKISH = re.compile("i\u0307+|\u0131")  # whose capital I has no dot, and whose \u0130 has one
COST = {"n": 2**12, "r": 8, "p": 1}  # of a digest, some 10 ms: guessing ids takes time


def normalised(student):
    """A student's id in the form in which ids are compared and numbers are drawn.

    Capital and small letters are the same (case folding: ``ß`` and ``ss``, too), and so are
    characters that Unicode calls compatible (NFKC), and the Turkish i with and without its dot.
    White space becomes one blank, none at the ends. What cannot be seen is left out. A
    `SpecificationError` where it is no text, empty, too long, or has characters that no id has.
    """
    allowed = "write your student id, as your course knows you, in the first cell"
    if not isinstance(student, str):
        raise SpecificationError(f"student = {student!r}: a text in quotes; {allowed}")
    text = folded(folded(student[: 10 * LONGEST]))  # what the first fold joins may fold again
    if not text:
        raise SpecificationError(f"student = {student[:20]!a}: {allowed}")
    if len(text) > LONGEST:
        raise SpecificationError(f"student = {text[:20]!a}...: over {LONGEST} letters; {allowed}")
    hidden = any(unicodedata.category(one) in REFUSED for one in text)
    if hidden or {"/", "\\"} & {*text} or text in (".", ".."):
        raise SpecificationError(f"student = {text!a}: no slashes or control characters; {allowed}")
    return text


def folded(text):
    """One round of `normalised`."""
    text = UNSEEN.sub("", "".join(one for one in text if unicodedata.category(one) != "Cf"))
    text = TURKISH.sub("i", unicodedata.normalize("NFKC", text).casefold())
    return re.sub(" +", " ", unicodedata.normalize("NFKC", text)).strip()


def compared(student):
    """`normalised` where that is possible, else the text as it is."""
    try:
        return normalised(student)
    except SpecificationError:
        return student


def digest(student, secret):
    """A slow hash of a student's id, for the roster of a course."""
    salt = f"netlab roster {secret}".encode()
    return hashlib.scrypt(normalised(student).encode(), salt=salt, dklen=12, **COST).hex()
