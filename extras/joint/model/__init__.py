"""Files that list collectives (`collective_list`), and joint schedules (`joint_schedule`) with their files (`joint_file`).

`joint_uses`: which collective is on which link when.
"""
