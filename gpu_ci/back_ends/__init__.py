"""The back ends that serve runners: one package each.

`stack_file.py` lists their sections and rules, and `registry.py` lists the back ends.
"""
