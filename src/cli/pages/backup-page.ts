/** The help topic on backups. */

/** The text of `rosterctl help backup`. */
export const backupPage = `Backups

  rosterctl backup create ~/backups --keep 30
  rosterctl backup verify ~/backups
  rosterctl backup diff ~/backups live
  rosterctl backup show ~/backups email:ann@example.org

create makes a snapshot, a folder such as 2026-11-22T010000Z. It holds one .ndjson file of
records for each resource, in order of their ids, documents.csv, and manifest.json with
the organization, counts and the SHA-256 of each file. The files of the documents are
in DIR/files under their SHA-256; each is stored once, and the snapshots share it. Back up
each organization to a folder of its own. To copy a backup, copy the whole folder.

A file is fetched again if its document was changed since it was last fetched. Where
the service shows no time of the change, the whole record is compared, and the manifest marks
the file as "assumed"; --recheck fetches every file again.

The snapshot gets its name when everything is in it. If it is interrupted, run the same
command again: it continues where it stopped, in a folder named .partial.

  exit 0   everything that was asked for is in it
  exit 1   the disk is full; earlier snapshots are as they were
  exit 8   something is missing: a resource that this key may not read, or a
           file that the store does not have. It is listed, and no snapshot is
           kept. --allow-partial keeps it, named .incomplete; it never counts
           as a good one.
  exit 11  a list may be incomplete, or another backup to DIR is running

--keep N removes old snapshots after a good one was made, and then the files that none of the
others needs. The newest N whole snapshots stay, and the newest one that holds each
resource. Incomplete ones go when they are older than these.

verify reads every byte and needs no network and no key; it exits 1 if anything is damaged or missing. It finds damage, not malice: whoever
can write to the folder can write a manifest, too.

Personal data

A backup holds names, addresses, answers, notes and documents. All files are readable only by
you (0600); that does not protect a stolen disk.

  - Encrypt the disk that it is on.
  - Keep it out of git, and out of folders that are synced or shared.
  - If somebody asks you to delete their data, the backups hold it, too: look
    with backup show, and delete those snapshots, or wait. With a backup every
    night, --keep 30 keeps data for 30 days after the service has deleted it.

Bringing back

  rosterctl players import DIR/SNAPSHOT/players.ndjson --key email
  rosterctl docs upload --manifest DIR/SNAPSHOT/documents.csv
  rosterctl backup diff DIR/SNAPSHOT live --csv back.csv
  rosterctl tryouts set-status --csv back.csv

The first creates the players that are gone and sets changed ones back; teams import
--key name does the same for teams. The second uploads the documents that are gone. The last
two set the status and notes of applications back, each only while it has the status
that diff saw. Add --dry-run to look first, and --max-changes if there are more than 100.

What comes back gets a new id. Players name their teams by id: bring the teams back first,
and if their ids are new, import the players with -F 'teamIds[]', or replace the ids in a
copy of the file. The service has no call that creates applications, so one that is gone
cannot be brought back; the backup still shows what it said. Status changes
trigger your organization's Flows.`;
