"""The order in which messages change a cell, and in which they are added: fixed by what rows wait for, or by slots only.

- `additions`: the order in which chunks are added, as expressions over ranks
- `races`: the transfers that may meet in another order than that of their slots
- `agreement`: whether routers take the cycles of the closed form, and the rule `late`: schedules and tables that rely on slots need
  machines and clocks by which no message is late
"""
