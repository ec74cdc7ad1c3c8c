"""What is known about GPU machines, and what follows from it.

Pure: no Pulumi, no files, no clock, no network. Every table states its source and its date; every judgement is a
`Verdict` with the chain of reasons that leads to it.
"""
