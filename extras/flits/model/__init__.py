"""Fields of flits, their widths and their bits."""
