"""Orders by name (`orders`); where sums are made, by a linear program over placings (`columns`, `rates`, `bounds`); whole numbers
of chunks (`shares`); transfers (`transfers`); exchanges of short messages (`exchanges`, `arranged`)."""
