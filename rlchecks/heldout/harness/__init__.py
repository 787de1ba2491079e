"""Evaluation logs of other programs as held-out rows: one module a format, all of them in one registry."""
