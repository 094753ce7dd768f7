"""The data model: networks, collectives, schedules, tables, machines, and their closed-form times.

- `common`: errors, registries, files, checked columns
- `network`: topologies, families by name, imported descriptions, routes
- `schedule`: schedules and symmetric schedules, their files, collectives, closed-form times
- `demand`: how much each endpoint has for each other one; `relays`: the network that a collective of some endpoints may use
- `fine`: schedules with fine slots: times, tolerance, other sizes
- `forms`: what consumers of schedules take, and what lowers one form to another
- `machine`: parameters of links and routers, with presets
- `routers`: routes and virtual channels of packets in routers
- `tables`: the rows that network interfaces execute, their form and memory
- `traces`: trace files of simulators
- `schemas`: forms of all files, and the JSON schemas that follow from them
"""
