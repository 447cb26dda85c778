/** The page of `rosterctl help cursors`. */

/** How `--since-last` tells what is new, and what it promises. */
export const cursorsPage = `What is new: --since-last NAME

A list with --since-last NAME prints only what is new since NAME last succeeded, oldest
first. NAME is a word of yours, one for each mail, channel or script.

  # Every ten minutes: cron mails who applied, and nothing when nobody did
  rosterctl -p club tryouts list --since-last mail -q --template '{name} {email}'

The first use records what is there, prints nothing, and says so even with -q, so that you
notice when the state folder was lost. --initial all prints everything instead.

  --changed FIELD  also what has another value in FIELD now; what left the
                   filter and came back is new, too
  --limit N        the oldest N; the others come next time
  --exit-code      12 if something was printed
  --peek           record nothing; cursors commit NAME does it later

Nothing is told silently less than once: the cursor moves only after all rows were written
and the exit code is 0 or 12. After an error, a signal, a full disk or a closed pipe (head
too: exit 1) the same rows come again. A list that may be incomplete prints nothing
(exit 11). Two uses of one NAME at once: the second exits 11.

rosterctl check --since-last NAME prints only findings that NAME has not been told.

A pipe or a file does not prove delivery. Where a program of yours passes the rows on, let
it confirm:

  rosterctl -p club tryouts list --since-last discord --peek -q --out new.txt &&
    { [ ! -s new.txt ] || post new.txt; } && rosterctl -p club cursors commit discord -q

docs/scripts.md has that line for Discord and for mail. cursors commit accepts exactly what the last --peek printed. Do not run two such lines of
one NAME at once (flock -n).

A cursor belongs to one list of one organization, and to the filter and --changed of its
first use; with others it is refused. It holds ids and hashes, no names and no times of
records, so equal times, late records and a wrong clock change nothing. A record that is
deleted is forgotten.

  rosterctl cursors list
  rosterctl cursors show discord             the filter, what is pending
  rosterctl cursors reset discord            the next use is a first use
  rosterctl cursors reset discord --at 7d    it prints what was submitted since then
  rosterctl cursors reset tryouts/discord    the list, where two have that name`;
