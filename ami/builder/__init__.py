"""The builder of Compute Engine images: `python3 -m ami.builder build`, run where gcloud is.

Owns the life of two machines and of one image. It is Python and not shell because it runs on the deployer's machine: a
signal must end in a sweep while a call is still under way, every call needs an upper bound, and macOS has neither
`timeout` nor a bash of this decade; an interpreter is there, since the program is Python. Only the standard library is
used, and nothing of the program but the pure modules beside this one.
"""
