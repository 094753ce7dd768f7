"""`designs`: compare networks, from performance to cost."""
