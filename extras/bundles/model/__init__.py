"""Bundles of evidence, files `.certree`: `archive`, zips whose every byte is determined; `bundle`, their members and manifest."""
