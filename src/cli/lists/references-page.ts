/** `rosterctl help references`: how to name a record without its id. */

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
  a doubtful list   exit 11, because another record may have the same name
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
