"""Questions of existence on small networks, the trusted encoder of their answers, and the checkers of every refutation."""
