"""The page that says what every exercise's points are given for."""

from netlab.course.answers.functions import written


def page(assignment):
    """Markdown: every exercise of a problem set, what is compared, and the manual rubrics."""
    lines = [
        f"# {assignment.title}: what points are given for",
        "",
        f"{assignment.max_points:g} points"
        + f", about {assignment.minutes} minutes" * bool(assignment.minutes)
        + ". What a student's notebook computes is compared with what the solution computes with"
        " that student's own parameters. A close answer gets half of its points; one whose unit"
        " alone is wrong, a quarter; an answer of several parts, the share that is right."
        " Students who make a mistake that is named below see it in their hint.",
        "",
    ]
    for exercise in assignment.exercises:
        lines += [f"## {exercise.title or exercise.id}", ""]
        lines += [f"`{exercise.id}`, {exercise.points:g} points, "]
        if exercise.manual:
            lines[-1] += "marked by a person."
            lines += ["", exercise.model.strip(), ""]
            continue
        lines[-1] += "marked by the computer."
        lines += ["", *(row for each in exercise.answers.items() for row in answer(*each)), ""]
    return "\n".join(lines)


def answer(name, spec):
    """The lines about one answer."""
    unit = f", in {spec['unit']}" if spec.get("unit") else ""
    if "state" in spec:
        right = f"what was typed leads to the state `{spec['state']}`"
    elif spec.get("exact"):
        right = "to be as measured"
    else:
        right = f"right within {100 * spec.get('within', 0.01):g} %"
    yield f"- `{name}`{unit}: {spec['points']:g} points; {right}"
    for key, text in (("cases", "called with"), ("pairs", "compared between")):
        if key in spec:
            calls = ", ".join(f"`{written(each)[1:-1]}`" for each in spec[key])
            yield f"    - {text} {calls}"
    for hint, expression in spec.get("mistakes", {}).items():
        yield f"    - a known mistake: {hint} (`{expression}`)"
