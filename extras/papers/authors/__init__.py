"""The simulator of the MultiTree authors, with its faults: its tables, interfaces, queues and baselines."""
