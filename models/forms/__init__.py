"""Forms of schedules, and what lowers one form to another.

- `schedule_form`: what a schedule has beyond transfers in steps of one round
- `lowering_chain`: what a consumer takes, and the route of lowerings to it
- `lowerings`: the lowerings, one in each file
"""
