"""Algorithms written for ranks.

- `embedding`: transfers between ranks on a network, with `route_choice`; `layout`: ranks on a grid
- `staged`: one stage after the other; `group_plans`, `exchange`, `all_to_all`: the building blocks of stages
"""
