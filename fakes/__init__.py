"""Clouds that cost nothing: what a real one would answer and refuse, behind the engine's own protocol.

`cloud` keeps what there is; the tables (`amazon_*`, `google`, `kubernetes`, `here`) say what each type is; `provider`
and `servers` put them where the engine looks for its plugins; `faults` lets things go wrong.
"""
