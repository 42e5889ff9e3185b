"""Kinds of answers: each a class that reads a value, bounds, compares and describes it."""
