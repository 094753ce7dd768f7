"""The machine: schedule tables in and out, and the cycle-accurate simulator."""
