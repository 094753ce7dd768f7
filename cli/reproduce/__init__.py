"""Programs that write tables of this repository: `matrix` synth/MATRIX.md, `certified` synth/CERTIFIED.md."""
