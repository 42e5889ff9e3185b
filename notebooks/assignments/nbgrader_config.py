"""nbgrader's configuration of this course folder: `nbgrader generate_assignment ps1`, the
formgrader and `nbgrader generate_feedback` work as ever; grading is `netlab course grade`.
"""

from nbgrader.converters import GenerateAssignment

from netlab.course.adapters.nbgrader import Contents, Refuse

c = get_config()  # noqa: F821
c.GenerateAssignment.preprocessors = [*GenerateAssignment.preprocessors.default(), Contents]
c.Autograde.sanitize_preprocessors = [Refuse]
c.HTMLExporter.sanitize_html = True  # students' notebooks, in teachers' browsers
