"""The order in which messages change a cell: fixed by what rows wait for, or by slots only.

- `races`: the transfers that may meet in another order than the slots have them
- `agreement`: whether routers take the cycles of the closed form, and the rule `late`: schedules and tables that rely on slots need
  machines and clocks by which no message is late
"""
