"""Improvement of a valid schedule.

`improvement` combines the moves: new slots under the `precedence` of rows, trees grown again (`regrowth`), a search over the last
slots (`tail_search`). `orders`: fine slots in another order.
"""
