"""Decisions: what is wanted and what was seen in, what to do and why out.

Pure. A plan is a list of actions, each with its reason; `carry_out` does them, nobody else.
"""
