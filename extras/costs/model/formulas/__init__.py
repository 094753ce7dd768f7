"""The cost models: one file each, registered by decorator and found by being in this folder."""
