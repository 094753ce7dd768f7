"""The command `certree model-check`: `model_check`, the group with the options of before; `modes`, its sub-commands; `outcomes`."""
