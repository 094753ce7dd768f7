"""Tables: `lowering` converts a schedule to rows of `trees`, or by `counted` to rows of `blocks` and `buffers`; `column_lines` has
their common functions. `directory` and `manifest` write and read tables; `manifest_form` defines the form of a manifest."""
