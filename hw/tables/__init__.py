"""Tables: `lowering` converts a schedule to rows of `trees`, or by `counted` to rows of `blocks` and `buffers`; `column_lines` has
what they share. `directory` and `manifest` write and read tables; `manifest_form` says what a manifest holds."""
