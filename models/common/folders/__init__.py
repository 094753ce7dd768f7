"""Writing without leaving halves: `replacing`, files and folders that appear at once or not at all; `folder_exchange` of two
folders."""
