"""Marks: notebooks run in a jail, their answers compared, a class at a time."""
