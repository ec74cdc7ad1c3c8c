"""Pure functions from the settings to values that components, checks and outputs share.

Components do not know the stack file, and its sections do not know components. They meet here and in `program`.
"""
