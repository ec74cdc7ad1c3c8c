"""Knowledge about GPU machines: dated tables, and pure models over them.

Pure: no Pulumi, no files, no clock, no network. Every table states its source and its date; every judgement is a
`Verdict` with the chain of reasons that leads to it.
"""
