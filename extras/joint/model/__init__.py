"""Files that list collectives (`collective_list`), and joint schedules (`joint_schedule`) with their files (`joint_file`)."""
