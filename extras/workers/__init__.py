"""Workers: tasks on processes of this computer, or of a cluster through Dask.

- `task`: a task and its key; `batch`: tasks that all have to succeed; `store`: their results in a folder
- `pool`: outcomes of tasks on the workers that a call asks for
- `local`, `slot`, `host`: processes of this computer; `cluster`: workers of Dask; `networks`: networks as they are sent to a worker
- `spread`: one search, or one comparison, on many workers, with the result of one worker
"""
