"""Forms that are compared as the grader does it; for tests."""

from netlab.course.answers import forms
from netlab.course.answers.bounds import refuse_too_much
from netlab.course.answers.rule import Rule
from netlab.course.handed_in.precheck import precheck
from netlab.course.handed_in.repair import repair


def compare(given, right, mistakes=None, **rule):
    """A form beside the right one."""
    return forms.compare(checked(given), checked(right), Rule(**rule), mistakes)


def checked(form):
    """The answer of a form that comes from outside."""
    refuse_too_much(form)
    return forms.answer(form)


def repaired(data, assignment):
    """The bytes of a submission, put right."""
    return repair(precheck(data, assignment), assignment)
