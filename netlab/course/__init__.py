"""The course: problem sets that grade themselves."""

from netlab.course.checks.states import goodput, prints, rtt, says
from netlab.course.own_numbers import Parameters, mine

__all__ = ["Parameters", "goodput", "mine", "prints", "rtt", "says"]
