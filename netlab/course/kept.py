"""What options of `netlab course grade` said, kept beside the marks: it holds until other options
say otherwise, or the file is removed.
"""

from pathlib import Path
from typing import ClassVar, Self

from netlab.description import Description
from netlab.engines import files
from netlab.errors import NetlabError


class Kept(Description):
    """A description that has a file in the folder that grading leaves."""

    file: ClassVar[str]
    options: ClassVar[str]  # that say it anew

    @classmethod
    def kept(cls, work) -> Self:
        """What was kept in a folder; an empty one where nothing was."""
        path = Path(work, cls.file)
        try:
            return cls.model_validate_json(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return cls()
        except (OSError, ValueError) as error:
            raise NetlabError(
                f"{path} is damaged: remove it, and give {cls.options} again"
            ) from error

    def keep(self, work):
        """Keep it in a folder, for the next grading."""
        if self != type(self)():
            files.write(Path(work, self.file), self.model_dump_json(indent=1) + "\n")
