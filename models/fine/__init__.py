"""Fine slots: schedules whose messages are placed cycle by cycle.

- `slots`: times of links and landings, in cycles
- `fine_tolerance`: how far clocks may differ
- `list_scheduler`: each transfer in the first cycle in which all that it needs is free; `list_jobs`: its input and output
- `timed_schedule`: schedules of any form in the slots of a run
- `chains`: messages of several lengths, each behind the one that brought its data
- `rebooking`: the same transfers at another size, on another machine, or with guards
- `equal`: the same transfers in slots of equal length, or in their order alone
- `demand_slots`: the same for schedules whose chunks differ in size
- `forwarding`: waits that routers keep by themselves
"""
