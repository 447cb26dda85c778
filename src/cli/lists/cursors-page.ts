/** The page of `rosterctl help cursors`. */

/** How `--since-last` tells what is new, and what it promises. */
export const cursorsPage = `What is new: --since-last NAME

A list with --since-last NAME prints only what is new since NAME last succeeded, oldest
first. Choose any NAME, a different one for each mailbox, channel or script.

  # Every ten minutes: cron mails new applicants, and sends no mail if there are none
  rosterctl -p club tryouts list --since-last mail -q --template '{name} {email}'

The first use records the records that exist and prints none of them. It says so even
with -q, so that you notice if the state folder was lost. --initial all prints them all.

  --changed FIELD  also print records whose FIELD has changed, and those that
                   left the filter and came back
  --limit N        print the oldest N; the others come next time
  --exit-code      exit with 12 if something was printed
  --peek           record nothing until cursors commit NAME

Every record is printed at least once: the cursor moves only after all rows were written and
the exit code is 0 or 12. After an error, a signal, a full disk or a closed pipe (also head:
exit 1), the next run prints the same rows again. If the list may be incomplete, nothing is
printed (exit 11). If two commands use one NAME at once, the second exits with 11.

rosterctl check --since-last NAME prints only new findings.

Writing to a pipe or a file does not prove delivery. If another program passes the rows on,
commit only after it succeeds:

  rosterctl -p club tryouts list --since-last discord --peek -q --out new.txt &&
    { [ ! -s new.txt ] || post new.txt; } && rosterctl -p club cursors commit discord -q

docs/scripts.md shows this for Discord, the README for mail. cursors commit accepts exactly
what the last --peek printed. Do not run two such commands with one NAME at once: put
flock -n FILE in front of each.

A cursor belongs to one list of one organization, and to the filter and the --changed of
its first use; any other is refused. It stores ids and hashes instead of names and times,
so equal times, late records and a wrong clock do not matter. Deleted records are forgotten.

  rosterctl cursors list
  rosterctl cursors show discord             its filter, and what is pending
  rosterctl cursors reset discord            start over with the next use
  rosterctl cursors reset discord --at 7d    print the last seven days again
  rosterctl cursors reset tryouts/discord    name the list if two share the name`;
