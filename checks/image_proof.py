"""Whether the disk that an image is made of is the one that was reported to be finished.

A declared builder is stopped when it is done, and also when Google has taken it away, when its time is over, and when
it failed: Compute Engine shows all of them as TERMINATED. The installer's report holds the hash of the content; what
was reported for another content says nothing of this one.
"""

from __future__ import annotations

from gpu.verdict import Level, Verdict

CHECK = "image-proof"


def image_proof(path: str, *, content: str, proved: str) -> list[Verdict]:
    """Judge the hash that was stated after a report against the content as it is now."""
    if proved == content:
        reason = f"the builder of this content has reported ok:{content}"
        return [Verdict(check=CHECK, level=Level.OK, subject=path, reason=reason)]
    return [
        Verdict(
            check=CHECK,
            level=Level.ERROR,
            subject=path,
            reason=f"{proved} was reported, and the installer and what is chosen of it are {content} by now",
            fix=f'go back to phase: build, and write "{content}" once its builder has reported ok:{content}',
            chain=(
                "the image is made of the disk of a builder that is called after its content",
                f"the report of {proved} is of another builder, whose disk is another",
            ),
        )
    ]
