"""Kernel plans and their files.

- `kernel_plan`: what every device does in one call, in a straight line of operations
- `kernel_plan_file`: plans as JSON
- `kernel_module`: Python modules with a plan, written and read without executing them
"""
