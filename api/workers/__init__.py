"""Tasks on worker processes: of this computer, or of a cluster through Dask.

- `task`: what is run, its key, its outcome; `host`: the process that forks for each task; `slot`: a host, seen from its parent
- `local`: slots of this computer; `cluster`: Dask; `pool`: the choice between them
- `networks`: networks as arguments
- `store`: a folder of results and one file of times; `batch`: tasks with results that are kept, all of which have to succeed
"""
