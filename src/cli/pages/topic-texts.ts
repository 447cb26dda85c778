/** The help topics that are text alone, without anything from a table. */

/** The guarantees of the output to scripts and people. */
export const outputPage = `Output

stdout carries the result and nothing else; notes, prompts, progress and errors go
to stderr.

  -o table    aligned and fitted in a terminal; tab-separated with a header when piped
  -o json     lists are a bare array, one record is an object; whole or nothing
  -o ndjson   one record per line, written as they arrive
  -o csv      RFC 4180 (lines end in CRLF; in a shell loop, use --template),
              nested fields as dotted columns; whole or nothing
  -o ids      one id per line
  -o xlsx     a workbook, with --out FILE.xlsx; whole or nothing
  --template  one line per record: '{name} <{email}> {submittedAt|ago}'

--json is -o json; --json=id,name is --json --fields id,name.

--fields keeps the named fields in that order, in every format. Dots reach into
objects and lists: gamerTags.0.gamerTag.

In a pipe, the report of a run is one row per record (row, id, result, before, after,
error), with its summary on stderr; json holds both, ndjson ends with the summary.

In --template, filters follow a bar: ago, date, json, csv, md (Markdown, with links and
mentions disarmed). {{ is a brace; a missing field is empty.

A piped table has fixed columns; choose others with --fields. Pages such as those of
stats, overview and doctor are the same in a pipe; use --json there. A terminal shows
readable headings; columns.RESOURCE chooses its columns (help fields). ROSTERCTL_FORCE_TTY=80 gives
a pipe the aligned table of that width. Long pages go through a pager:
ROSTERCTL_PAGER, the setting pager or PAGER, else less (on Windows, none). cat or TERM=dumb
turns it off.

Applications are listed newest first, everything else by name. --limit keeps the first
N in this order, or in the order of --sort, in every format and selection. Without
--limit and --sort, machine formats keep the service's order, so | head -1 is not
--limit 1.

--out FILE writes the result to a file, atomically; its extension chooses the format.

Records are passed through untouched: every field that the service sent, in its
order, numbers as they came. A value that differs from the documentation (missing,
of another type, an unknown status) is shown as it came and noted once on stderr;
--strict makes it an error.

In tab-separated output \\, tab, line feed and carriage return in values are written
\\\\, \\t, \\n, \\r. In CSV, what a spreadsheet would read as a formula gets a
leading ', even after a comma, semicolon, tab or line break within a cell; a NUL is
written as \u2400. --csv-raw turns both off.

In a workbook every text is a text cell, so ids, leading zeros and = survive; what XML
cannot hold is written _x0001_, as Excel does. Times other than updatedAt are dates in
UTC, for reference only: a date cell is never sent back. --csv FILE.xlsx reads it back.

With json or ndjson the last line of stderr is the error:
  {"error":{"code":"…","kind":"…","message":"…","hint":"…","exitCode":5,…}}
If the service refused the request, "service" holds the body of its answer.
Exit 0 means that everything that you asked for was done and written out.`;

/** How to name a record without its id. */
export const referencesPage = `Naming records

Anywhere you can give an id, you can also give one of these. Quote values with spaces.

  ID, id:ID         the record with that id, and nothing else
  email:ADDRESS     an application, or a player
  discord:USER      the same, by Discord user id or user name
  tag:GAMERTAG      the same, by gamer tag
  name:NAME         an application, player, team or document

E-mail addresses and Discord names match in any case; names and tags match as typed or,
if none does, in any case. rosterctl reads the whole list each time and never relies
on what TAB remembers.

  no record         exit 5, with the nearest ones
  several records   exit 11, with their ids; at a terminal you choose
  a partial list    exit 11, because another record may have the same name
  a forbidden list  exit 7; use the id

Before a change, the record is read again by its id. If it no longer matches what you
typed, it is a conflict and is left alone. Reports show what you typed as "ref".

  rosterctl tryouts get email:nilo.mandelkow@example.org
  rosterctl players list --team name:Lanternfish
  rosterctl tryouts set-status --csv decisions.csv --key email --yes

Lines of --ids FILE may be references. In JSON, NDJSON and CSV, id is always an id;
--key email, name, discord or tag uses another column of a CSV, without a prefix.
--where and --if do not take references.

If your service keeps a player's e-mail in a field other than email:
  rosterctl config set refs.players.email contact.email
`;

/** How `--since-last` tells what is new, and what it promises. */
export const cursorsPage = `What is new: --since-last NAME

A list with --since-last NAME prints only what is new since the last successful run with NAME, oldest
first. Choose any NAME, a different one for each mailbox, channel or script.

  # Every ten minutes: cron mails new applicants, and sends no mail if there are none
  rosterctl -p club tryouts list --since-last mail -q --template '{name} {email}'

The first use remembers the records that exist and prints none of them. It says so even
with -q, so that you notice if the state folder was lost. --initial all prints them all.

  --changed FIELD  also print records whose FIELD has changed, and those that
                   left the filter and came back
  --limit N        print the oldest N; the others come next time
  --exit-code      exit with 12 if something was printed
  --peek           printed rows stay new until cursors commit NAME

Every record is printed at least once: the cursor moves only after all rows were written and
the exit code is 0 or 12. After an error, a signal, a full disk, a power cut or a closed pipe
(| head: exit 1), the next run prints the same rows again. If the list may be incomplete,
nothing is printed (exit 11). If two commands use one NAME at once, the second exits with 11.

rosterctl check --since-last NAME prints only new findings.

Writing to a pipe or a file does not prove delivery. If another program passes the rows on,
commit only after it succeeds:

  rosterctl -p club tryouts list --since-last discord --peek -q --out new.txt &&
    { [ ! -s new.txt ] || post new.txt; } && rosterctl -p club cursors commit discord -q

docs/scripts.md shows this for Discord, the README for mail. cursors commit accepts exactly
what the last --peek printed. Do not run two such commands with one NAME at once: put
flock -n FILE in front of each; on macOS, let launchd start them.

A cursor belongs to one list of one organization, and to the filter and the --changed of
its first use; any other is refused. It stores ids and hashes instead of names and times,
so equal times, late records and a wrong clock do not matter. Deleted records are forgotten.

  rosterctl cursors list
  rosterctl cursors show discord           # its filter, and what is pending
  rosterctl cursors reset discord          # start over with the next use
  rosterctl cursors reset discord --at 7d  # print the last seven days again
  rosterctl cursors reset tryouts/discord  # name the list if two share the name`;

/** How changes are selected, previewed, kept and undone. */
export const bulkPage = `Changing records, one or many

Select the records in one way: ids or references (rosterctl help references), --ids FILE,
--csv FILE, filter flags, or --all. Without any of these, nothing is selected. If the list may be
incomplete, nothing is changed (exit 11; --allow-partial continues with what is there).

  --ids  one id per line, NDJSON, a JSON array, or a CSV with an id column; - is stdin
  --csv  an id column (or another one, with --key) and the fields to set; for tryouts:
         status, internalNotes (or note) and if_status. A file that list -o csv wrote
         works as it is, and so does a workbook (list --out FILE.xlsx), saved by
         any spreadsheet program: --sheet NAME reads a sheet other than the first,
         --take-formulas the values that its formulas show.
         An empty cell changes nothing; <clear> empties the field, [] a list. A cell takes
         the type of the field; name:text, :int, :bool and :json set another.
         --map "THEIRS=id" renames a column, --ignore-columns skips unknown ones.

A spreadsheet that opens a CSV shortens long numbers such as Discord ids (1.23457E+17).
Such a cell is refused; use .xlsx, or import the column as text.

Before the first change you see a preview (l lists all rows); in a script, add --yes.
To delete several records, you must state how many: type the number, or add --yes --expect N.
--note over existing notes asks whether to replace or append. --dry-run changes nothing;
with --exit-code it exits 12 if something would change.

--max-changes N (default 100, or the N of --expect) is a safety limit: if more records would
change, nothing is sent (exit 11). To change at most N and leave the rest for next time, limit the
selection: --sort submittedAt --limit 200 --max-changes 200. With -q, a run that went well prints
nothing.

Results: changed, unchanged, skipped (--if, --if-status), failed, conflict (someone else
changed it after the preview), unknown (it may have happened), not_attempted.
Exit codes: rosterctl help exit-codes

Each record is read at most 2 seconds before it is changed. A change that another admin
makes in these 2 seconds is overwritten.

If a run is interrupted, runs resume continues it and repeats nothing. So does the
same command, if it names the records by ids or a file. With filters, it selects
again, and --limit applies to the new selection. Losing your SSH session stops a run,
just as Ctrl-C does. To keep it running, use tmux, screen or setsid.

  rosterctl runs list         # finished and unfinished runs
  rosterctl runs show last    # the result of each row
  rosterctl runs resume last  # continue an interrupted run
  rosterctl runs retry RUN    # try the rows that failed or conflicted again
  rosterctl runs undo last    # restore what a run changed

An undo restores only what nobody has changed since, for 30 days (undo.keep). It cannot
undo deletions, conversions or what your Flows did.

To have someone else review a change first, add --plan FILE: rosterctl help plans

One bulk change runs at a time for each organization and kind of record; --wait-lock 10m
waits for the other to finish.`;

/** Changes that are reviewed before they are made. */
export const plansPage = `Plan files: review a change before it is made

With --plan FILE, a command that changes records writes the change to a file instead
of sending it. Someone else reviews the file, on any machine, without a key. Then you
apply it: exactly what was reviewed, or nothing.

  # Anna writes the plan, and sends the file to Ben
  rosterctl tryouts set-status --status pending --to rejected --plan p.json
  # Ben reviews every change, and tells Anna the first characters of the hash
  rosterctl plan show p.json
  # Anna applies it
  rosterctl plan apply p.json --hash 1a2b3c4d

plan apply reads every record before the first change. If one no longer has the
value that the plan shows, or is gone, or if the content of a file to upload has changed,
nothing is sent (exit 11). With --allow-drift those rows are conflicts, and the
others are changed. It always shows the changes and asks; in a script, add --yes
(to delete several: --yes --expect N). --dry-run shows what it would do. Its
report names the hash, and so does runs show.

A plan is refused
  for another organization or service         exit 2
  after 24 hours (--expires 90m, 24h, 7d)     exit 11
  if any value in the file was edited         exit 11
  if it was applied on this machine before    exit 11

Line endings and indentation are ignored. If plan apply is interrupted, run the
same command again.

The hash in the file detects damage, not tampering: anyone who edits the file can
write a new hash, and state another author. So pass on its first eight characters
separately, for example by phone, and give them to plan apply with --hash.

The file holds names and notes of people, and only you can read it (0600). It
never holds the API key or a signed URL. Delete it when you no longer need it.

--plan works with tryouts set-status, update and convert; teams and players
update and import; players delete; docs update, delete and upload (the plan
holds the hashes of the files, not the files); and runs undo. Rows that would
fail or conflict cannot be planned: leave them out. Rows without a change are
only counted. Flags that control sending, such as --results, belong to plan apply.
`;

/** The places that the key and personal data go to, and those that they never go to. */
export const securityPage = `Security

rosterctl sends the API key only to the origin (scheme, host, port) it was stored for. It
never sends it to another host, through a redirect, or to the file store behind signed
URLs. The key is never taken from a flag, and never written to output, logs or errors.
It is kept in credentials.json, mode 0600, in the configuration folder; or given by
ROSTERCTL_API_KEY, ROSTERCTL_API_KEY_FILE or a credential command (key.command).

rosterctl connects only over https, except to your own machine. It always verifies
certificates; to trust a private certificate authority, set NODE_EXTRA_CA_CERTS.

What applicants typed into a form is untrusted: control and direction characters are
shown as visible escapes in every view, prompt and error, and CSV cells that a
spreadsheet would run are guarded.

rosterctl reads nothing from the current folder except files that you name, and
contacts only your service and the signed URLs that it returns.`;
