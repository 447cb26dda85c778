/** The help topic on backups. */

/** The text of `rosterctl help backup`. */
export const backupPage = `Backups

  rosterctl backup create ~/backups --keep 30
  rosterctl backup verify ~/backups
  rosterctl backup diff ~/backups live
  rosterctl backup show ~/backups email:ann@example.org

create makes a snapshot: a folder such as 2026-11-22T010000Z. It holds one .ndjson file of
records for each resource, ordered by id; documents.csv; and manifest.json with the
organization, the counts and the SHA-256 of each file. The files of the documents are in
DIR/files, named by their SHA-256: each is stored once, and all snapshots share it. Back up
each organization to its own folder. To copy a backup, copy the whole folder.

A file is downloaded again if its document has changed since the last download. If the
service does not show when a document changed, its whole record is compared, and the
manifest marks the file as "assumed"; --recheck downloads every file again.

A snapshot gets its final name only when it is complete; until then, the name of its folder
ends in .partial. If a backup is interrupted, run the same command again: it continues where
it stopped.

  exit 0   everything that you asked for is in it
  exit 1   the disk is full; earlier snapshots are unchanged
  exit 8   something is missing: a resource that this key cannot read, or a
           file that the store does not have. The missing parts are listed, and
           no snapshot is kept. --allow-partial keeps it, named .incomplete; it
           never counts as a complete one.
  exit 11  a list may be incomplete, or another backup to DIR is running

--keep N removes old snapshots after a complete one has been made, and then the files that no
other snapshot needs. The newest N complete snapshots stay, and so does the newest one with
each resource. Incomplete ones are removed when they are older than these.

verify reads every byte, without a network or a key, and exits with 1 if anything is damaged
or missing. It detects damage, not tampering: anyone who can write to the folder can also
replace the manifest.

Personal data

A backup holds names, addresses, answers, notes and documents. Only you can read its files
(0600), but that does not protect a stolen disk.

  - Encrypt the disk that it is on.
  - Keep it out of git, and out of folders that are synced or shared.
  - If someone asks you to delete their data, your backups still hold it. Find
    it with backup show, and delete those snapshots, or wait: with a backup
    every night, --keep 30 keeps data for 30 days after the service deleted it.

Restoring

  rosterctl players import DIR/SNAPSHOT/players.ndjson --key email
  rosterctl docs upload --manifest DIR/SNAPSHOT/documents.csv
  rosterctl backup diff DIR/SNAPSHOT live --csv back.csv
  rosterctl tryouts set-status --csv back.csv

The first command creates the players that were deleted and restores those that were
changed; teams import --key name does the same for teams. The second uploads the documents
that were deleted. Every player needs a value of their own in the key: if some have no
e-mail, name another field, such as --key name. The last two restore the status and notes of
applications, each only if it still has the status that diff saw. Add --dry-run to preview a
change, and --max-changes N for more than 100 changes.

Restored records get new ids. Players name their teams by id: restore the teams first, and
if their ids are new, import the players with --create-only -F 'teamIds[]', which creates
the deleted ones without teams, or replace the ids in a copy of the file. The service cannot
create applications, so a deleted one cannot be restored; the backup still shows what it said.
Status changes trigger your organization's Flows.`;
