"""The kinds of witness: registered by decorator, each with its proof in the docstring."""
