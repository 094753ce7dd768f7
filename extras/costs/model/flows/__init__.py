"""GenModel on a network: the flows of each step, the rates at which they share links, and the time."""
