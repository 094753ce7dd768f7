"""Writing without leaving halves: `replacing`, files and folders that appear at once or not at all; `exchange` of two folders."""
