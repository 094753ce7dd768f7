(** The checker as a program in OCaml, and what the theorems rest on. Numbers stay the binary ones of the proofs. *)

From Coq Require Import Extraction ExtrOcamlBasic.
From Proved Require Import Definitions Checker Sound Lockstep Additions.

Extraction Language OCaml.
Extraction "checker.ml" check check_at tables_of form_is_right wiring_is_right links_are_right order_is_right
  contents_are_right timing_of waits_are_right orders is_one.

Print Assumptions check_sound.
Print Assumptions check_has_runs.
Print Assumptions check_has_starts.
