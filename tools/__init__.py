"""Programs for the checkout, which are not in the wheel: `demo` is `make demo`, `tables` write pages of the documentation, `specs`
check the properties of the TLA+ modules, `proofs` compiles the proofs of the checker, `words` is a lint of language;
`checkout` names the files."""
