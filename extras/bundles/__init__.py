"""Bundles of evidence, files `.certree`: a schedule or a frontier with everything that shows that it is right.

- `model`: the archive, and its manifest; `items`: the kinds of evidence, each collected and re-checked
- `evidence`: what an item of evidence is; `reading`: stored results as objects; `page`: the RECHECK.md of a bundle
- `check`: re-checking of bundles, item by item, without a solver; `make`: collecting and writing them
- `artefacts`: bundles among the artefacts that every command reads; `command`: bundle
"""
