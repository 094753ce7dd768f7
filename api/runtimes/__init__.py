"""Programs of communication runtimes: `programs` exports, verifies and imports them; `raising`: from what a program does to a
schedule on a network, with `registers`: the buffers of its chunks; `reports`: results in words and as documents.
`executing`: execution by real processes."""
