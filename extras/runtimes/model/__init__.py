"""Programs: what the thread blocks of each rank do, as communication runtimes read it.

- `program`: ranks, thread blocks and their steps; `layout`: where the data of a collective is in the buffers of a rank
- `limits`: of the executor; `msccl`: MSCCL's XML, read and written
- `plan`: plans of MSCCL++; `plan_file`: their JSON, read; `plan_writer`: written
- `chakra`: execution traces of Chakra, read and written (of training as well), with `protobuf` for their bytes
- `algorithm`: a collective as such traces
"""
