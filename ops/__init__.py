"""What people run: the plan, the engine, the rehearsal, and the command line in front of them.

Everything here may read the whole project; nothing of the project reads it.
"""
