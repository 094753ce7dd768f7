"""Families of boxes of GPUs with a network interface for each GPU and a fabric between them; `fabric` is their common part."""
