"""What a stack file may say: closed, frozen sections, and every fault reported at once.

`config.load` is the only reader of Pulumi's configuration; everything else here is plain values.
"""
