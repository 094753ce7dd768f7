"""Tables: `lowering` makes rows from a schedule, `directory` and `manifest` write and read them."""
