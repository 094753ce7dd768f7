"""Formats of programs, read and written, one file each, registered by decorator (`program_format`): `msccl_xml`, `mscclpp`,
`chakra`."""
