"""What a check says of an answer: a verdict, how much of the points it is worth, and a hint."""

from netlab.course.texts import as_markdown, printable
from netlab.errors import NetlabError

# Said before the hint
WORDS = {
    "right": "Right",
    "close": "Close",
    "wrong": "Not yet",
    "nothing": "No answer yet",
    "noted": "",
}
# As short lines: nbgrader cuts what is longer
CANNOT_VALIDATE = """Validate cannot tell: it says this of every notebook, right or wrong.
This notebook has no tests of nbgrader's; only the grader has the answers.
Use `netlab course check`, which says what to mend before you hand in."""


class CannotValidate(NetlabError):
    """nbgrader's Validate would call wrong work right."""

    def _render_traceback_(self):  # IPython shows this in place of the way to here
        return str(self).splitlines()


class Check:
    """What `check` gives.

    Attributes
    ----------
    verdict : {"right", "close", "wrong", "nothing", "noted"}
        "noted" is an answer that was compared with nothing: its hint says what it is.
    share : float
        Of the points, from 0 to 1: 1 where it is right, 0.5 where it is close, 0.25 where only its
        unit is wrong. What has several parts has the mean of theirs.
    hint : str
        A sentence, or "".
    good : float
        Share of the parts that are wholly right.
    """

    def __init__(self, verdict, share=0, hint="", good=None):
        self.verdict, self.share, self.hint = verdict, share, printable(hint)
        self.good = float(verdict == "right") if good is None else good

    def __repr__(self):
        return self._sentence(WORDS[self.verdict], self.hint)

    def _repr_markdown_(self):
        word = WORDS[self.verdict]
        return self._sentence(word and f"**{word}**", as_markdown(self.hint))

    def _sentence(self, word, hint):
        between = " " if self.verdict == "right" else ": "  # "Right for this example"
        text = word and hint and word + between + hint
        text = text or word or hint[:1].upper() + hint[1:]
        return text if text.endswith(("?", ".", "!", "...")) else f"{text}."


RIGHT = Check("right", 1)
