"""Tables paced at any timing: `paced_model`, as a model for TLC; `chains`, how far the counters of neighbours can be apart;
`apart`, the same for the folder of an interface; `waiting`, how many chunks can wait to be added."""
