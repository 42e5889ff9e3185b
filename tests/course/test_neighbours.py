"""What only a whole class shows: names, files and numbers of somebody else."""

from netlab.course.grading.neighbours import SAME_ID, flagged
from netlab.course.handed_in.collect import Origin
from tests.course.test_adapters import marks


def one_of(student, digest, given, right, share=1.0, named=""):
    found = marks(student, (3, 3.5))
    exercise, *others = found.exercises
    rows = [exercise.answers[0].but(given=given, right=right, share=share)]
    return found.but(
        exercises=[exercise.but(answers=rows), *others],
        origin=Origin("key", digest, [], []),
        named=named,
    )


def test_each_is_flagged_by_what_is_somebody_elses():
    everybody = [
        one_of("ada", "1", "of ada", "of ada"),
        one_of("bob", "2", "of ada", "of bob", share=0.0),  # typed in ada's number
        one_of("cem", "1", "of cem", "of cem", named="ada"),  # her file
        one_of("Cem", "3", "of dan", "of dan", named="Cem "),  # the same id as cem
        one_of("eve", "4", "", "of eve", share=0.0),  # another's, too short to tell whose
        one_of("fay", "5", "of fay", "of ada"),  # right by chance
    ]
    found = {one.student: one for one in flagged(everybody)}
    assert {name: one.flags for name, one in found.items()} == {
        "ada": ["same file as cem"],
        "bob": ["number of ada: bdp_bytes"],
        "cem": ["copied name: ada", "same id as Cem", "same file as ada"],
        "Cem": ["same id as cem"],
        "eve": [],
        "fay": [],
    }
    assert found["cem"].notices == found["Cem"].notices == [SAME_ID]
    assert [one.flags for one in everybody] == [[]] * 6  # those that are kept stay as they are
