"""The commands of the project: plan, preview and rehearsal, and their command line.

These modules may import the whole project. No other package imports them.
"""
