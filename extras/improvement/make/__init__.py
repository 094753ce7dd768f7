"""Improvement of a valid schedule.

`improve`: the function of the API, which verifies what it returns.
`improvement` combines the moves: new slots under the `precedence` of rows, trees grown again (`regrowth`), a search over the last
slots (`tail_search`). `orders`: fine slots in another order, which `fastest_order` finds for small programs by CP-SAT.
"""
