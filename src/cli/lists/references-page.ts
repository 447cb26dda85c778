/** `rosterctl help references`: how a record is named besides by its id. */

export const referencesPage = `Naming records

Wherever an id goes, these go too, in quotes where they hold spaces:

  ID, id:ID         the record with that id, and nothing else
  email:ADDRESS     an application, or a player
  discord:USER      the same, by the Discord user id or user name
  tag:GAMERTAG      the same, by a gamer tag
  name:NAME         an application, player, team or document

E-mail addresses and Discord names match in any case; names and tags match as typed or,
if none does, in any case. rosterctl reads the whole list once, each time: it never goes
by what TAB remembers.

  no record         exit 5, with the nearest ones
  several records   exit 11, with their ids; at a terminal you choose
  a doubtful list   exit 11, since another record may have the same name
  a forbidden list  exit 7; use the id

Before a change the record is read again by its id. If it no longer answers to what you
typed, it is a conflict and is left alone. Reports say under "ref" what was typed.

  rosterctl tryouts get email:nilo.mandelkow@example.org
  rosterctl players list --team name:Lanternfish
  rosterctl tryouts set-status --csv decisions.csv --key email --yes

Lines of --ids FILE may be references. In JSON, NDJSON and CSV, id is always an id;
--key email, name, discord or tag takes another column of a CSV, without a prefix.
--where and --if take no references.

If a player's e-mail is in another field than email:
  rosterctl config set refs.players.email contact.email
`;
