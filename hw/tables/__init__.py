"""Tables: `lowering` converts a schedule to rows, `directory` and `manifest` write and read them."""
