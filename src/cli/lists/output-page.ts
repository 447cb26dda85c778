/** The page of `rosterctl help output`. */

/** The guarantees of the output to scripts and people. */
export const outputPage = `Output

stdout carries the result and nothing else; notes, prompts, progress and errors go
to stderr.

  -o table    aligned and fitted in a terminal; tab-separated with a header when piped
  -o json     lists are a bare array, one record is an object; whole or nothing
  -o ndjson   one record a line, written as they come
  -o csv      RFC 4180, nested fields as dotted columns; whole or nothing
  -o ids      one id a line
  -o xlsx     a workbook, with --out FILE.xlsx; whole or nothing
  --template  one line a record: '{name} <{email}> {submittedAt|ago}'

--json is -o json; --json=id,name is --json --fields id,name.

--fields keeps the named fields in that order, in every format. Dots reach into
objects and lists: gamerTags.0.gamerTag.

In a pipe, the report of a run is one row per record (row, id, result, before, after,
error), with its summary on stderr; json holds both, ndjson ends with the summary.

In --template, filters follow a bar: ago, date, json, csv, md (Markdown, with links and
mentions disarmed). {{ is a brace; a missing field is empty.

A piped table has fixed columns; choose others with --fields. A terminal shows
readable headings; columns.RESOURCE chooses its columns (help fields). ROSTERCTL_FORCE_TTY=80 gives
a pipe the aligned table of that width. Long pages go through a pager (ROSTERCTL_PAGER,
pager, PAGER, else less; cat for none).

Applications are listed newest first, everything else by name. --limit keeps the first N
in this order, in every format and selection, or in that of --sort. Without
--limit and --sort, machine formats keep the service's order, so | head -1 is not
--limit 1.

--out FILE writes the result to a file, atomically; its extension chooses the format.

Records are passed through untouched: every field that the service sent, in its
order, numbers as they came. A value that differs from the documentation (missing,
of another type, an unknown status) is shown as it came and noted once on stderr;
--strict makes it an error.

In tab-separated output \\, tab, line feed and carriage return in values are written
\\\\, \\t, \\n, \\r. CSV cells that a spreadsheet would read as a formula get a
leading ', also after a ; a tab or a line end in the cell; a NUL is written \u2400 (--csv-raw leaves
both out).

In a workbook every text is a text cell, so ids, leading zeros and = survive; what XML
cannot hold is written _x0001_, as Excel does. Times other than updatedAt are dates in
UTC, for reading only: a date cell is never sent back. --csv FILE.xlsx takes it back.

With json or ndjson the last line of stderr is the error:
  {"error":{"code":"…","kind":"…","message":"…","hint":"…","exitCode":5,…}}
Where the service refused, "service" holds the body of its answer.
Exit 0 means that everything asked was done and written out.`;
