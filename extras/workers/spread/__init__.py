"""One search on many workers, with the result that one worker finds: `candidates` of `synthesize`, and its seeds."""
