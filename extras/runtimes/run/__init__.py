"""Execution of schedules by processes with real data, one for each rank.

- `executing`: execute; `numbers`: types of elements and operations; `duties`: what each rank sends, receives and holds, in its
order
- `reference`: the results that every rank must have, bit for bit; `work`: buffers of a rank, and its duties with them
- `local`: processes on this computer, joined by sockets; `mpi`: the processes of `mpirun`
"""
