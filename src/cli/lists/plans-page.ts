/** `rosterctl help plans`: changes that one person writes down and another one looks at. */

export const plansPage = `Plan files: a change that two people look at

With --plan FILE, a change of records is previewed and written to a file, and
nothing is sent. Somebody else looks at the file, on any machine, without a key.
Then it is applied: exactly what was reviewed, or nothing.

  # Anna writes down what would change, and sends the file to Ben
  rosterctl tryouts set-status --status pending --to rejected --plan p.json
  # Ben looks at every change, and tells Anna the first characters of the hash
  rosterctl plan show p.json
  # Anna applies it
  rosterctl plan apply p.json --hash 1a2b3c4d

plan apply reads every record before the first change. If one no longer has the
value that the plan shows, or is gone, or if a file to upload has another
content, nothing is sent (exit 11). With --allow-drift those rows are conflicts,
and the others are changed. It always shows the changes and asks; in a script,
add --yes (to delete several: --yes --expect N). --dry-run shows what it would
do. Its report names the hash, and so does runs show.

A plan is refused
  for another organization or service         exit 2
  after 24 hours (--expires 90m, 24h, 7d)     exit 11
  if any value in the file was edited         exit 11
  if it was applied on this machine before    exit 11

Line ends and indentation do not count. If plan apply is interrupted, run the
same command again.

The hash in the file finds damage, not malice: whoever edits the file can write
a new hash, and state any maker. So pass on its first eight characters by
another way than the file, such as the phone, and give them to plan apply with
--hash.

The file holds names and notes of people and is readable by you only (0600). It
never holds the API key or a signed URL. Delete it when you no longer need it.

--plan works with tryouts set-status, update and convert; teams and players
update and import; players delete; docs update, delete and upload (the plan
holds the hashes of the files, not the files); and runs undo. Rows that would
fail or conflict cannot be planned: leave them out. Rows without a change are
only counted. Flags for the sending, such as --results, go with plan apply.
`;
