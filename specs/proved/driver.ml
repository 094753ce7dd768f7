(* Reads schedules as whole numbers and prints what the checker extracted from the proofs answers. No theorem is about this file:
   that it reads what it should is on trust, as are the compilers. The order of the numbers is that of [schedule] below. *)

open Checker

let buffer =
  let all = Buffer.create 65536 in
  (try
     while true do
       Buffer.add_channel all stdin 65536
     done
   with End_of_file -> ());
  Buffer.contents all

let place = ref 0

let is_space c = c = ' ' || c = '\n'
let skip_spaces () = while !place < String.length buffer && is_space buffer.[!place] do incr place done

let next () =
  skip_spaces ();
  let start = !place in
  while !place < String.length buffer && not (is_space buffer.[!place]) do incr place done;
  int_of_string (String.sub buffer start (!place - start))

let rec positive i = if i = 1 then XH else if i land 1 = 0 then XO (positive (i / 2)) else XI (positive (i / 2))
let number i = if i < 0 then failwith "a negative number" else if i = 0 then N0 else Npos (positive i)
let read_n () = number (next ())

(* A count, then as many entries. *)
let read_list entry =
  let rec go i l = if i = 0 then List.rev l else go (i - 1) (entry () :: l) in
  go (next ()) []

let kind () =
  match next () with 0 -> Endpoint | 1 -> Reducing | 2 -> Forwarding | 3 -> Absent | _ -> failwith "no such kind of node"

let link () =
  let tail = read_n () in
  let head = read_n () in
  { tail; head; width = read_n () }

let row () =
  let source = read_n () in
  let target = read_n () in
  ((source, target), read_n ())

let collective () =
  match next () with
  | 0 -> AllReduce
  | 1 -> ReduceScatter
  | 2 -> AllGather
  | 3 -> AllToAll
  | 4 -> AllToAllV (read_list row)
  | 5 -> Broadcast (read_n ())
  | 6 -> ReduceTo (read_n ())
  | 7 -> Gather (read_n ())
  | 8 -> Scatter (read_n ())
  | _ -> failwith "no such collective"

let whose () = match next () with -1 -> Everyone | a -> Alone (number a)

let chunk () =
  let origin = whose () in
  let due = whose () in
  { origin; due; size = read_n () }

let transfer routes count () =
  incr count;
  let step = read_n () in
  let op = match next () with 0 -> Reduce | 1 -> Copy | _ -> failwith "no such operation" in
  let of_chunk = read_n () in
  let cell () =
    let node = read_n () in
    { node; buffer = read_n (); of_chunk }
  in
  let source = cell () in
  let target = cell () in
  let via = match next () with -1 -> None | r -> Some routes.(r) in
  { number = positive !count; step; op; source; target; via }

let schedule () =
  let nodes = read_list kind in
  let links = read_list link in
  let to_do = collective () in
  let members = read_list read_n in
  let chunks = read_list chunk in
  let rounds = read_list read_n in
  let delay = read_n () in
  let buffers = read_n () in
  let period = read_n () in
  let repeats = read_n () in
  let routes = Array.of_list (read_list (fun () -> read_list read_n)) in
  let transfers = read_list (transfer routes (ref 0)) in
  { net = { nodes; links }; to_do; members; chunks; transfers; rounds; delay; buffers; period; repeats }

(* Beyond so many transfers the chains of waits are not followed: the time grows with the square. *)
let most_followed = 2048

(* Beyond so many contributions to all sums together they are not spelled out. *)
let most_spelled = 1 lsl 24

let contributions s =
  let members = List.length s.members in
  let places k = match (k.origin, k.due) with Alone _, _ -> 0 | Everyone, Everyone -> members | Everyone, Alone _ -> 1 in
  List.fold_left (fun sum k -> sum + (members * places k)) 0 s.chunks

let additions s = match orders s with None -> "none" | Some found -> if is_one found then "one" else "each"

(* A line for each schedule: [right true], whether its waits suffice at any timing, and how far the additions of its sums are the same, where
   these were asked for; or [right false] and whether each part of the checker accepts. *)
let answer s =
  if check s then
    let count = contributions s in
    "right true"
    ^ (if List.length s.transfers > most_followed then "" else Printf.sprintf " waits %b" (waits_are_right s))
    ^ if count = 0 || count > most_spelled then "" else " additions " ^ additions s
  else
    let t = tables_of s in
    Printf.sprintf "right false form %b wiring %b links %b order %b contents %b" (form_is_right s t) (wiring_is_right s t)
      (links_are_right s t)
      (order_is_right (timing_of s) s)
      (contents_are_right s t)

let () =
  while skip_spaces (); !place < String.length buffer do
    print_endline (answer (schedule ()))
  done
