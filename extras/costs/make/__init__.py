"""GenTree: `plan` picks plan types switch by switch, `plan_family` finds the best plan by the times of
`plan_timer`. `along_trees` finds the best schedule along any trees on small networks, by
`priced_trees`."""
