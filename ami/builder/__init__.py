"""The builder of Compute Engine images: `python3 -m ami.builder build`, on a machine with gcloud.

It builds an image on one machine and verifies it on another. It is Python instead of shell because it runs on the
deployer's machine: a signal must delete the machines even during a call, every call needs a time limit, and macOS has
neither `timeout` nor a recent bash. It uses only the standard library and the modules in this folder.
"""
