"""The kinds of artefacts of the kernel, one file each: registered by decorator and found by being in this folder.

- `schedule_files`: schedules, symmetric schedules and those written by hand as CSV; `tables_folders`: tables
- `topology_files`: networks
"""
