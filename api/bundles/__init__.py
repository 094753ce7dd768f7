"""Bundles of evidence, files `.certree`: a schedule or a frontier with everything that shows it to be right.

- `evidence`: what an item of evidence is, and the results of re-checking one; `items`: one file per kind of evidence
- `making`: bundle; `checking`: verify_bundle; `documents`: its result as JSON and in words; `page`: the RECHECK.md of a bundle
- `reading`: stored results as objects (`certree.models.bundle.bundle` reads the file itself)
"""
