# Completion of rosterctl for fish 3 and later.
# Generated from the command table: rosterctl completion fish

function __rosterctl_noun # a word: its noun, and the command it is alone
    switch "$argv[1]"
        case 'tryouts' 'tryout'
            printf '%s\n' 'tryouts' '-'
        case 'teams' 'team'
            printf '%s\n' 'teams' '-'
        case 'players' 'player'
            printf '%s\n' 'players' '-'
        case 'documents' 'docs' 'doc' 'document'
            printf '%s\n' 'documents' '-'
        case 'uploads' 'upload'
            printf '%s\n' 'uploads' '-'
        case 'runs' 'run'
            printf '%s\n' 'runs' '-'
        case 'auth'
            printf '%s\n' 'auth' '-'
        case 'profile' 'profiles'
            printf '%s\n' 'profile' '-'
        case 'config'
            printf '%s\n' 'config' '-'
        case 'sandbox'
            printf '%s\n' 'sandbox' '-'
        case 'api'
            printf '%s\n' 'api' 'api'
        case 'doctor'
            printf '%s\n' 'doctor' 'doctor'
        case 'completion'
            printf '%s\n' 'completion' 'completion'
        case 'commands'
            printf '%s\n' 'commands' 'commands'
        case 'help'
            printf '%s\n' 'help' 'help'
        case '*'
            printf '%s\n' '?' '?'
    end
end

function __rosterctl_verb # noun and word: the command
    switch "$argv[1]"
        case 'tryouts list' 'tryouts ls'
            printf '%s\n' 'tryouts list'
        case 'tryouts get' 'tryouts view'
            printf '%s\n' 'tryouts get'
        case 'tryouts update' 'tryouts edit'
            printf '%s\n' 'tryouts update'
        case 'tryouts set-status'
            printf '%s\n' 'tryouts set-status'
        case 'tryouts convert'
            printf '%s\n' 'tryouts convert'
        case 'tryouts stats'
            printf '%s\n' 'tryouts stats'
        case 'teams list' 'teams ls'
            printf '%s\n' 'teams list'
        case 'teams get' 'teams view'
            printf '%s\n' 'teams get'
        case 'teams create' 'teams new'
            printf '%s\n' 'teams create'
        case 'teams update' 'teams edit'
            printf '%s\n' 'teams update'
        case 'teams delete' 'teams rm'
            printf '%s\n' 'teams delete'
        case 'players list' 'players ls'
            printf '%s\n' 'players list'
        case 'players get' 'players view'
            printf '%s\n' 'players get'
        case 'players create' 'players new'
            printf '%s\n' 'players create'
        case 'players update' 'players edit'
            printf '%s\n' 'players update'
        case 'players delete' 'players rm'
            printf '%s\n' 'players delete'
        case 'documents list' 'documents ls'
            printf '%s\n' 'documents list'
        case 'documents get' 'documents view'
            printf '%s\n' 'documents get'
        case 'documents create' 'documents new'
            printf '%s\n' 'documents create'
        case 'documents update' 'documents edit'
            printf '%s\n' 'documents update'
        case 'documents delete' 'documents rm'
            printf '%s\n' 'documents delete'
        case 'documents upload'
            printf '%s\n' 'documents upload'
        case 'documents download'
            printf '%s\n' 'documents download'
        case 'documents preview'
            printf '%s\n' 'documents preview'
        case 'uploads list' 'uploads ls'
            printf '%s\n' 'uploads list'
        case 'uploads finish'
            printf '%s\n' 'uploads finish'
        case 'uploads forget'
            printf '%s\n' 'uploads forget'
        case 'uploads create' 'uploads new'
            printf '%s\n' 'uploads create'
        case 'uploads put'
            printf '%s\n' 'uploads put'
        case 'runs list' 'runs ls'
            printf '%s\n' 'runs list'
        case 'runs show'
            printf '%s\n' 'runs show'
        case 'runs resume'
            printf '%s\n' 'runs resume'
        case 'runs retry'
            printf '%s\n' 'runs retry'
        case 'runs undo'
            printf '%s\n' 'runs undo'
        case 'runs prune'
            printf '%s\n' 'runs prune'
        case 'auth login'
            printf '%s\n' 'auth login'
        case 'auth status'
            printf '%s\n' 'auth status'
        case 'auth logout'
            printf '%s\n' 'auth logout'
        case 'profile list' 'profile ls'
            printf '%s\n' 'profile list'
        case 'profile show'
            printf '%s\n' 'profile show'
        case 'profile use'
            printf '%s\n' 'profile use'
        case 'profile rename'
            printf '%s\n' 'profile rename'
        case 'profile remove'
            printf '%s\n' 'profile remove'
        case 'config list' 'config ls'
            printf '%s\n' 'config list'
        case 'config get' 'config view'
            printf '%s\n' 'config get'
        case 'config set'
            printf '%s\n' 'config set'
        case 'config unset'
            printf '%s\n' 'config unset'
        case 'config path'
            printf '%s\n' 'config path'
        case 'sandbox start'
            printf '%s\n' 'sandbox start'
        case 'sandbox reset'
            printf '%s\n' 'sandbox reset'
        case 'sandbox events'
            printf '%s\n' 'sandbox events'
        case '*'
            printf '%s\n' '?'
    end
end

function __rosterctl_words # noun or nothing: names, --, other names
    switch "$argv[1]"
        case ''
            printf '%s\n' 'tryouts'\t'Read and decide tryout applications' 'teams'\t'Keep the teams' 'players'\t'Keep the players' 'documents'\t'Keep, tag, upload and download documents' 'uploads'\t'Finish interrupted uploads; do their steps one by one' 'runs'\t'Look at bulk runs, go on with them, retry them' 'auth'\t'Store an API key and check it' 'profile'\t'Keep several connections apart' 'config'\t'Read and change settings' 'sandbox'\t'Run and look at the embedded demo service' 'api'\t'Send a request that no other command knows' 'doctor'\t'Check configuration, connection and what the key may read' 'completion'\t'Complete commands, flags and ids with TAB, in four shells' 'commands'\t'List every command with its flags, for scripts and tools' 'help'\t'Explain a topic or a command' '--' 'tryout'\t'Read and decide tryout applications' 'team'\t'Keep the teams' 'player'\t'Keep the players' 'docs'\t'Keep, tag, upload and download documents' 'doc'\t'Keep, tag, upload and download documents' 'document'\t'Keep, tag, upload and download documents' 'upload'\t'Finish interrupted uploads; do their steps one by one' 'run'\t'Look at bulk runs, go on with them, retry them' 'profiles'\t'Keep several connections apart'
        case 'tryouts'
            printf '%s\n' 'list'\t'List the tryout applications' 'get'\t'Show one or several tryout applications' 'update'\t'Change the status or the notes of applications' 'set-status'\t'Move applications to a status, with a result for each' 'convert'\t'Convert applications to players' 'stats'\t'Count applications by status, game and week' '--' 'ls'\t'List the tryout applications' 'view'\t'Show one or several tryout applications' 'edit'\t'Change the status or the notes of applications'
        case 'teams'
            printf '%s\n' 'list'\t'List the teams' 'get'\t'Show one or several teams' 'create'\t'Create a team' 'update'\t'Change fields of one or several teams' 'delete'\t'Delete a team' '--' 'ls'\t'List the teams' 'view'\t'Show one or several teams' 'new'\t'Create a team' 'edit'\t'Change fields of one or several teams' 'rm'\t'Delete a team'
        case 'players'
            printf '%s\n' 'list'\t'List the players' 'get'\t'Show one or several players' 'create'\t'Create a player' 'update'\t'Change fields of one or several players' 'delete'\t'Delete one or several players' '--' 'ls'\t'List the players' 'view'\t'Show one or several players' 'new'\t'Create a player' 'edit'\t'Change fields of one or several players' 'rm'\t'Delete one or several players'
        case 'documents'
            printf '%s\n' 'list'\t'List the documents' 'get'\t'Show one or several documents' 'create'\t'Record a file that was uploaded already (step 3 of an upload alone)' 'update'\t'Change the name, the tags or other fields of documents' 'delete'\t'Delete one or several documents' 'upload'\t'Upload files as documents' 'download'\t'Download the files of documents' 'preview'\t'Get the preview of a document, or its signed URL' '--' 'ls'\t'List the documents' 'view'\t'Show one or several documents' 'new'\t'Record a file that was uploaded already (step 3 of an upload alone)' 'edit'\t'Change the name, the tags or other fields of documents' 'rm'\t'Delete one or several documents'
        case 'uploads'
            printf '%s\n' 'list'\t'List the uploads that were interrupted' 'finish'\t'Finish uploads that were interrupted' 'forget'\t'Give up an upload that was interrupted' 'create'\t'Ask for a presigned upload URL (step 1 of an upload alone)' 'put'\t'Send a file to a presigned upload URL (step 2 of an upload alone)' '--' 'ls'\t'List the uploads that were interrupted' 'new'\t'Ask for a presigned upload URL (step 1 of an upload alone)'
        case 'runs'
            printf '%s\n' 'list'\t'List the runs kept on this machine' 'show'\t'Show what became of each row of a run' 'resume'\t'Resume a run that was interrupted' 'retry'\t'Start a new run from the rows that failed or conflicted' 'undo'\t'Undo a run: put fields back and remove what it created' 'prune'\t'Remove runs from this machine' '--' 'ls'\t'List the runs kept on this machine'
        case 'auth'
            printf '%s\n' 'login'\t'Store an API key for a profile, after checking it' 'status'\t'Show which key is in force and ask the service whether it is good' 'logout'\t'Forget the stored key of a profile' '--'
        case 'profile'
            printf '%s\n' 'list'\t'List the stored profiles' 'show'\t'Show one profile' 'use'\t'Make a profile the one used when none is named' 'rename'\t'Give a profile another name' 'remove'\t'Remove a profile with its settings and its key' '--' 'ls'\t'List the stored profiles'
        case 'config'
            printf '%s\n' 'list'\t'List the settings in force and where each came from' 'get'\t'Show one setting' 'set'\t'Set a setting of the profile in force, or of all when there is none' 'unset'\t'Take a setting back' 'path'\t'Show where the configuration is kept' '--' 'ls'\t'List the settings in force and where each came from' 'view'\t'Show one setting'
        case 'sandbox'
            printf '%s\n' 'start'\t'Run the sandbox as a server, for scripts and other tools' 'reset'\t'Reset the sandbox to its demo data' 'events'\t'List the events that the sandbox emitted' '--'
        case '*'
            printf '%s\n' '--'
    end
end

function __rosterctl_flags # command: its own flags
    switch "$argv[1]"
        case 'tryouts list'
            printf '%s\n' '--status'\t'with one of these' '--not-status'\t'without, e.g. pending' '--game'\t'a gamer tag for it' '--form'\t'an answer of the form' '--since'\t'submitted on or after; also 7d, 24h' '--until'\t'submitted on or before' '--older-than'\t'submitted longer ago, e.g. 60d' '--updated-since'\t'updated on or after' '--converted'\t'already a player' '--unconverted'\t'not yet a player' '--with-notes'\t'with internal notes' '--without-notes'\t'without internal notes' '--where'\t'keep records; also != ~ < > <= >=' '--search'\t'keep records with this text in any field' '--sort'\t'order by a field' '--limit'\t'at most this many'
        case 'tryouts update'
            printf '%s\n' '--status'\t'new status' '--note'\t'new internal notes' '--note-file'\t'new notes from a file' '--append-note'\t'add a dated line to the notes' '--clear-note'\t'remove the notes' '--ids'\t'ids from a file: lines, NDJSON, JSON or CSV' '--csv'\t'rows from a CSV: id and what to set' '--map'\t'rename a column of the CSV' '--ignore-columns'\t'pass over columns that nobody knows' '--if-status'\t'change a row only while it has one of these' '--if'\t'change a row only while this holds' '--expect'\t'refuse unless exactly so many rows are selected' '--max-changes'\t'refuse if more would change (default 100)' '--fail-fast'\t'stop at the first row that fails' '--max-errors'\t'stop when so many rows failed' '--concurrency'\t'requests at once (default 4)' '--rate'\t'requests a second (default none)' '--restart'\t'begin anew although the same run is unfinished' '--wait-lock'\t'wait so long for another bulk write' '--results'\t'a CSV of what became of each row' '--exit-code'\t'with --dry-run: exit 12 if something would change'
        case 'tryouts set-status'
            printf '%s\n' '--to'\t'the new status' '--note'\t'new internal notes' '--note-file'\t'new notes from a file' '--append-note'\t'add a dated line to the notes' '--clear-note'\t'remove the notes' '--ids'\t'ids from a file: lines, NDJSON, JSON or CSV' '--csv'\t'rows from a CSV: id and what to set' '--map'\t'rename a column of the CSV' '--ignore-columns'\t'pass over columns that nobody knows' '--status'\t'with one of these' '--not-status'\t'without, e.g. pending' '--game'\t'a gamer tag for it' '--form'\t'an answer of the form' '--since'\t'submitted on or after; also 7d, 24h' '--until'\t'submitted on or before' '--older-than'\t'submitted longer ago, e.g. 60d' '--updated-since'\t'updated on or after' '--converted'\t'already a player' '--unconverted'\t'not yet a player' '--with-notes'\t'with internal notes' '--without-notes'\t'without internal notes' '--where'\t'keep records; also != ~ < > <= >=' '--search'\t'keep records with this text in any field' '--sort'\t'order by a field' '--limit'\t'at most this many' '--all'\t'every record of the list' '--allow-partial'\t'also when the list may be incomplete' '--if-status'\t'change a row only while it has one of these' '--if'\t'change a row only while this holds' '--expect'\t'refuse unless exactly so many rows are selected' '--max-changes'\t'refuse if more would change (default 100)' '--fail-fast'\t'stop at the first row that fails' '--max-errors'\t'stop when so many rows failed' '--concurrency'\t'requests at once (default 4)' '--rate'\t'requests a second (default none)' '--restart'\t'begin anew although the same run is unfinished' '--wait-lock'\t'wait so long for another bulk write' '--results'\t'a CSV of what became of each row' '--exit-code'\t'with --dry-run: exit 12 if something would change'
        case 'tryouts convert'
            printf '%s\n' '--accept'\t'set the status accepted first' '--set'\t'set a field: true, false, null, numbers and JSON are typed, a.b=1 nests, tags[]=x lists, k=@FILE reads' '--set-string'\t'set a field, always as text' '--input'\t'a whole body in JSON or YAML; flags win over it' '--ids'\t'ids from a file: lines, NDJSON, JSON or CSV' '--csv'\t'rows from a CSV: id and what to set' '--map'\t'rename a column of the CSV' '--ignore-columns'\t'pass over columns that nobody knows' '--status'\t'with one of these' '--not-status'\t'without, e.g. pending' '--game'\t'a gamer tag for it' '--form'\t'an answer of the form' '--since'\t'submitted on or after; also 7d, 24h' '--until'\t'submitted on or before' '--older-than'\t'submitted longer ago, e.g. 60d' '--updated-since'\t'updated on or after' '--converted'\t'already a player' '--unconverted'\t'not yet a player' '--with-notes'\t'with internal notes' '--without-notes'\t'without internal notes' '--where'\t'keep records; also != ~ < > <= >=' '--search'\t'keep records with this text in any field' '--sort'\t'order by a field' '--limit'\t'at most this many' '--all'\t'every record of the list' '--allow-partial'\t'also when the list may be incomplete' '--if-status'\t'change a row only while it has one of these' '--if'\t'change a row only while this holds' '--expect'\t'refuse unless exactly so many rows are selected' '--max-changes'\t'refuse if more would change (default 100)' '--fail-fast'\t'stop at the first row that fails' '--max-errors'\t'stop when so many rows failed' '--concurrency'\t'requests at once (default 4)' '--rate'\t'requests a second (default none)' '--restart'\t'begin anew although the same run is unfinished' '--wait-lock'\t'wait so long for another bulk write' '--results'\t'a CSV of what became of each row' '--exit-code'\t'with --dry-run: exit 12 if something would change'
        case 'tryouts stats'
            printf '%s\n' '--status'\t'with one of these' '--not-status'\t'without, e.g. pending' '--game'\t'a gamer tag for it' '--form'\t'an answer of the form' '--since'\t'submitted on or after; also 7d, 24h' '--until'\t'submitted on or before' '--older-than'\t'submitted longer ago, e.g. 60d' '--updated-since'\t'updated on or after' '--converted'\t'already a player' '--unconverted'\t'not yet a player' '--with-notes'\t'with internal notes' '--without-notes'\t'without internal notes' '--where'\t'keep records; also != ~ < > <= >=' '--search'\t'keep records with this text in any field'
        case 'teams list'
            printf '%s\n' '--where'\t'keep records; also != ~ < > <= >=' '--search'\t'keep records with this text in any field' '--sort'\t'order by a field' '--limit'\t'at most this many'
        case 'teams create'
            printf '%s\n' '--name'\t'name of the team' '--set'\t'set a field: true, false, null, numbers and JSON are typed, a.b=1 nests, tags[]=x lists, k=@FILE reads' '--set-string'\t'set a field, always as text' '--input'\t'a whole body in JSON or YAML; flags win over it' '--restart'\t'create it even if the same command may have done so already'
        case 'teams update'
            printf '%s\n' '--name'\t'name of the team' '--set'\t'set a field: true, false, null, numbers and JSON are typed, a.b=1 nests, tags[]=x lists, k=@FILE reads' '--set-string'\t'set a field, always as text' '--input'\t'a whole body in JSON or YAML; flags win over it' '--route'\t'another route than the assumed one, e.g. \'PUT /teams/{id}\'; rosterctl help undocumented' '--ids'\t'ids from a file: lines, NDJSON, JSON or CSV' '--csv'\t'rows from a CSV: id and what to set' '--map'\t'rename a column of the CSV' '--ignore-columns'\t'pass over columns that nobody knows' '--where'\t'keep records; also != ~ < > <= >=' '--search'\t'keep records with this text in any field' '--sort'\t'order by a field' '--limit'\t'at most this many' '--all'\t'every record of the list' '--allow-partial'\t'also when the list may be incomplete' '--if'\t'change a row only while this holds' '--expect'\t'refuse unless exactly so many rows are selected' '--max-changes'\t'refuse if more would change (default 100)' '--fail-fast'\t'stop at the first row that fails' '--max-errors'\t'stop when so many rows failed' '--concurrency'\t'requests at once (default 4)' '--rate'\t'requests a second (default none)' '--restart'\t'begin anew although the same run is unfinished' '--wait-lock'\t'wait so long for another bulk write' '--results'\t'a CSV of what became of each row' '--exit-code'\t'with --dry-run: exit 12 if something would change'
        case 'teams delete'
            printf '%s\n' '--confirm'\t'the name of the team, to confirm' '--route'\t'another route than the assumed one, e.g. \'DELETE /teams/{id}\'; rosterctl help undocumented'
        case 'players list'
            printf '%s\n' '--team'\t'players of this team' '--where'\t'keep records; also != ~ < > <= >=' '--search'\t'keep records with this text in any field' '--sort'\t'order by a field' '--limit'\t'at most this many'
        case 'players create'
            printf '%s\n' '--name'\t'name of the player' '--set'\t'set a field: true, false, null, numbers and JSON are typed, a.b=1 nests, tags[]=x lists, k=@FILE reads' '--set-string'\t'set a field, always as text' '--input'\t'a whole body in JSON or YAML; flags win over it' '--restart'\t'create it even if the same command may have done so already'
        case 'players update'
            printf '%s\n' '--name'\t'name of the player' '--set'\t'set a field: true, false, null, numbers and JSON are typed, a.b=1 nests, tags[]=x lists, k=@FILE reads' '--set-string'\t'set a field, always as text' '--input'\t'a whole body in JSON or YAML; flags win over it' '--route'\t'another route than the assumed one, e.g. \'PUT /players/{id}\'; rosterctl help undocumented' '--ids'\t'ids from a file: lines, NDJSON, JSON or CSV' '--csv'\t'rows from a CSV: id and what to set' '--map'\t'rename a column of the CSV' '--ignore-columns'\t'pass over columns that nobody knows' '--team'\t'players of this team' '--where'\t'keep records; also != ~ < > <= >=' '--search'\t'keep records with this text in any field' '--sort'\t'order by a field' '--limit'\t'at most this many' '--all'\t'every record of the list' '--allow-partial'\t'also when the list may be incomplete' '--if'\t'change a row only while this holds' '--expect'\t'refuse unless exactly so many rows are selected' '--max-changes'\t'refuse if more would change (default 100)' '--fail-fast'\t'stop at the first row that fails' '--max-errors'\t'stop when so many rows failed' '--concurrency'\t'requests at once (default 4)' '--rate'\t'requests a second (default none)' '--restart'\t'begin anew although the same run is unfinished' '--wait-lock'\t'wait so long for another bulk write' '--results'\t'a CSV of what became of each row' '--exit-code'\t'with --dry-run: exit 12 if something would change'
        case 'players delete'
            printf '%s\n' '--route'\t'another route than the assumed one, e.g. \'DELETE /players/{id}\'; rosterctl help undocumented' '--ids'\t'ids from a file: lines, NDJSON, JSON or CSV' '--csv'\t'rows from a CSV: id and what to set' '--map'\t'rename a column of the CSV' '--ignore-columns'\t'pass over columns that nobody knows' '--team'\t'players of this team' '--where'\t'keep records; also != ~ < > <= >=' '--search'\t'keep records with this text in any field' '--sort'\t'order by a field' '--limit'\t'at most this many' '--all'\t'every record of the list' '--allow-partial'\t'also when the list may be incomplete' '--if'\t'change a row only while this holds' '--expect'\t'refuse unless exactly so many rows are selected' '--max-changes'\t'refuse if more would change (default 100)' '--fail-fast'\t'stop at the first row that fails' '--max-errors'\t'stop when so many rows failed' '--concurrency'\t'requests at once (default 4)' '--rate'\t'requests a second (default none)' '--restart'\t'begin anew although the same run is unfinished' '--wait-lock'\t'wait so long for another bulk write' '--results'\t'a CSV of what became of each row' '--exit-code'\t'with --dry-run: exit 12 if something would change'
        case 'documents list'
            printf '%s\n' '--tag'\t'with this tag; several: with all' '--type'\t'of this content type: pdf, image/png; image/ for all' '--since'\t'created on or after; also 7d, 24h' '--where'\t'keep records; also != ~ < > <= >=' '--search'\t'keep records with this text in any field' '--sort'\t'order by a field' '--limit'\t'at most this many'
        case 'documents create'
            printf '%s\n' '--file-key'\t'the key that step 1 answered' '--file-ref'\t'the fileRef that step 1 answered' '--content-type'\t'the content type of step 1' '--size-bytes'\t'the size of step 1' '--name'\t'name of the document' '--tag'\t'a tag of the document' '--restart'\t'create it even if the same command may have done so already'
        case 'documents update'
            printf '%s\n' '--name'\t'name of the document' '--add-tag'\t'add a tag' '--remove-tag'\t'remove a tag' '--tag'\t'replace all tags by these' '--set'\t'set a field: true, false, null, numbers and JSON are typed, a.b=1 nests, tags[]=x lists, k=@FILE reads' '--set-string'\t'set a field, always as text' '--input'\t'a whole body in JSON or YAML; flags win over it' '--route'\t'another route than the assumed one, e.g. \'PUT /documents/{id}\'; rosterctl help undocumented' '--ids'\t'ids from a file: lines, NDJSON, JSON or CSV' '--csv'\t'rows from a CSV: id and what to set' '--map'\t'rename a column of the CSV' '--ignore-columns'\t'pass over columns that nobody knows' '--type'\t'of this content type: pdf, image/png; image/ for all' '--since'\t'created on or after; also 7d, 24h' '--where'\t'keep records; also != ~ < > <= >=' '--search'\t'keep records with this text in any field' '--sort'\t'order by a field' '--limit'\t'at most this many' '--all'\t'every record of the list' '--allow-partial'\t'also when the list may be incomplete' '--if'\t'change a row only while this holds' '--expect'\t'refuse unless exactly so many rows are selected' '--max-changes'\t'refuse if more would change (default 100)' '--fail-fast'\t'stop at the first row that fails' '--max-errors'\t'stop when so many rows failed' '--concurrency'\t'requests at once (default 4)' '--rate'\t'requests a second (default none)' '--restart'\t'begin anew although the same run is unfinished' '--wait-lock'\t'wait so long for another bulk write' '--results'\t'a CSV of what became of each row' '--exit-code'\t'with --dry-run: exit 12 if something would change'
        case 'documents delete'
            printf '%s\n' '--route'\t'another route than the assumed one, e.g. \'DELETE /documents/{id}\'; rosterctl help undocumented' '--ids'\t'ids from a file: lines, NDJSON, JSON or CSV' '--csv'\t'rows from a CSV: id and what to set' '--map'\t'rename a column of the CSV' '--ignore-columns'\t'pass over columns that nobody knows' '--tag'\t'with this tag; several: with all' '--type'\t'of this content type: pdf, image/png; image/ for all' '--since'\t'created on or after; also 7d, 24h' '--where'\t'keep records; also != ~ < > <= >=' '--search'\t'keep records with this text in any field' '--sort'\t'order by a field' '--limit'\t'at most this many' '--all'\t'every record of the list' '--allow-partial'\t'also when the list may be incomplete' '--if'\t'change a row only while this holds' '--expect'\t'refuse unless exactly so many rows are selected' '--max-changes'\t'refuse if more would change (default 100)' '--fail-fast'\t'stop at the first row that fails' '--max-errors'\t'stop when so many rows failed' '--concurrency'\t'requests at once (default 4)' '--rate'\t'requests a second (default none)' '--restart'\t'begin anew although the same run is unfinished' '--wait-lock'\t'wait so long for another bulk write' '--results'\t'a CSV of what became of each row' '--exit-code'\t'with --dry-run: exit 12 if something would change'
        case 'documents upload'
            printf '%s\n' '--recursive'\t'all files below a folder, but hidden ones and links' '--name'\t'name of the document' '--tag'\t'a tag of the documents' '--content-type'\t'what the file is, whatever its name says' '--if-exists'\t'when a document or an earlier file has the name (looks at the list)' '--verify'\t'download each document again and compare its bytes' '--concurrency'\t'files at once (default 4)' '--expect'\t'refuse unless exactly so many rows are selected' '--max-changes'\t'refuse if more would change (default 100)' '--fail-fast'\t'stop at the first row that fails' '--max-errors'\t'stop when so many rows failed' '--rate'\t'requests a second (default none)' '--restart'\t'begin anew although the same run is unfinished' '--wait-lock'\t'wait so long for another bulk write' '--results'\t'a CSV of what became of each row' '--exit-code'\t'with --dry-run: exit 12 if something would change'
        case 'documents download'
            printf '%s\n' '--file'\t'write to this file; - is stdout' '--dir'\t'write into this folder, made when missing' '--skip-existing'\t'leave a file that is there, and do not download it' '--overwrite'\t'replace a file that is there' '--url'\t'print the signed URL instead; it is a secret while it is valid' '--ids'\t'ids from a file: lines, NDJSON, JSON or CSV' '--tag'\t'with this tag; several: with all' '--type'\t'of this content type: pdf, image/png; image/ for all' '--since'\t'created on or after; also 7d, 24h' '--where'\t'keep records; also != ~ < > <= >=' '--search'\t'keep records with this text in any field' '--sort'\t'order by a field' '--limit'\t'at most this many' '--all'\t'every record of the list' '--allow-partial'\t'also when the list may be incomplete' '--concurrency'\t'documents at once (default 4)' '--rate'\t'requests a second (default none)'
        case 'documents preview'
            printf '%s\n' '--file'\t'write to this file; - is stdout' '--dir'\t'write into this folder, made when missing' '--skip-existing'\t'leave a file that is there, and do not download it' '--overwrite'\t'replace a file that is there' '--url'\t'print the signed URL instead; it is a secret while it is valid'
        case 'uploads finish'
            printf '%s\n' '--all'\t'every interrupted upload of this organization' '--concurrency'\t'requests at once (default 4)' '--wait-lock'\t'wait so long for another bulk write'
        case 'uploads create'
            printf '%s\n' '--content-type'\t'one of the ten allowed types' '--size-bytes'\t'exact length of the file'
        case 'uploads put'
            printf '%s\n' '--content-type'\t'the content type of step 1'
        case 'runs list'
            printf '%s\n' '--all'\t'also older runs and finished changes of a single record'
        case 'runs show'
            printf '%s\n' '--failed'\t'only rows that failed, conflicted or are unknown' '--undoable'\t'the records that the run deleted, as NDJSON for create --input'
        case 'runs resume' 'runs retry'
            printf '%s\n' '--max-changes'\t'refuse if more would change (default 100)' '--expect'\t'refuse unless exactly so many rows are selected' '--fail-fast'\t'stop at the first row that fails' '--max-errors'\t'stop when so many rows failed' '--concurrency'\t'requests at once (default 4)' '--rate'\t'requests a second (default none)' '--wait-lock'\t'wait so long for another bulk write'
        case 'runs undo'
            printf '%s\n' '--only'\t'undo only these records' '--max-changes'\t'refuse if more would change (default 100)' '--expect'\t'refuse unless exactly so many rows are selected' '--fail-fast'\t'stop at the first row that fails' '--max-errors'\t'stop when so many rows failed' '--concurrency'\t'requests at once (default 4)' '--rate'\t'requests a second (default none)' '--wait-lock'\t'wait so long for another bulk write' '--restart'\t'begin anew although the same run is unfinished' '--results'\t'a CSV of what became of each row'
        case 'runs prune'
            printf '%s\n' '--older-than'\t'older than this (default 30d)'
        case 'auth login'
            printf '%s\n' '--key-stdin'\t'read the key from stdin' '--key-file'\t'copy the key from this file, now' '--no-check'\t'store the key without asking the service'
        case 'auth status'
            printf '%s\n' '--all'\t'every stored profile' '--offline'\t'do not ask the service'
        case 'config list'
            printf '%s\n' '--show-origin'\t'name the file of what is stored'
        case 'api'
            printf '%s\n' '--method'\t'the method: GET, POST, PUT, PATCH, DELETE' '--set'\t'set a field: true, false, null, numbers and JSON are typed, a.b=1 nests, tags[]=x lists, k=@FILE reads' '--set-string'\t'set a field, always as text' '--input'\t'a whole body in JSON or YAML; flags win over it' '--param'\t'a query parameter' '--include'\t'print the status line and the headers before the body' '--paginate'\t'read every page of a list and print one array'
        case 'sandbox start'
            printf '%s\n' '--port'\t'the port of the API; any free one by default' '--data'\t'keep the data in this folder' '--seed-size'\t'the demo data of a first use' '--fault'\t'inject a fault: \'PATCH /tryout-applications/* #2 close-after\'' '--strict-events'\t'emit events also for an update to the present status'
        case 'completion'
            printf '%s\n' '--install'\t'put the script where the shell finds it' '--uninstall'\t'remove what --install wrote, and nothing else'
    end
end

function __rosterctl_global_flags # the flags of every command
    printf '%s\n' '--profile'\t'the connection to use; `sandbox` is built in' '--org'\t'the organization; must be the one the key was stored for' '--base-url'\t'the service, ending in /v1' '--output'\t'table, json, ndjson, csv, ids; a table is tab-separated when piped' '--json'\t'same as -o json' '--fields'\t'keep only these fields, in this order' '--out'\t'write the result to a file; .csv, .json, .ndjson choose the format' '--bom'\t'begin csv with a byte order mark' '--delimiter'\t'csv delimiter: , or ; or tab' '--csv-raw'\t'do not guard csv cells that a spreadsheet would read as a formula' '--no-header'\t'no header row in tables and csv' '--time'\t'how times are written for people: iso, local, relative' '--dry-run'\t'send no write; show what would be sent' '--yes'\t'answer confirmations with yes' '--no-input'\t'never prompt' '--quiet'\t'no notes' '--verbose'\t'more notes' '--debug'\t'HTTP trace on stderr; never a body, a key or a signed query' '--strict'\t'an answer that differs from the contract is an error' '--no-color'\t'no colour; also NO_COLOR' '--no-pager'\t'no pager' '--timeout'\t'how long to wait for the first byte of an answer' '--retries'\t'extra attempts after the first' '--max-wait'\t'longest single wait that a Retry-After may cause' '--max-time'\t'end the whole command after this time (exit 143); a run can be resumed' '--help'\t'explain the command'
end

function __rosterctl_flag # command, flag: name, again or -, slot
    switch "$argv[1]:$argv[2]"
        case 'tryouts list:--status' 'tryouts set-status:--status' 'tryouts convert:--status' 'tryouts stats:--status'
            printf '%s\n' '--status' 'again'; printf '%s\n' 'words' 'list' '-' '-' 'pending' 'reviewing' 'shortlisted' 'accepted' 'rejected' 'withdrawn'
        case 'tryouts list:--not-status' 'tryouts set-status:--not-status' 'tryouts convert:--not-status' 'tryouts stats:--not-status'
            printf '%s\n' '--not-status' 'again'; printf '%s\n' 'words' 'list' '-' '-' 'pending' 'reviewing' 'shortlisted' 'accepted' 'rejected' 'withdrawn'
        case 'tryouts list:--game' 'tryouts set-status:--game' 'tryouts convert:--game' 'tryouts stats:--game'
            printf '%s\n' '--game' 'again'; printf '%s\n' 'free' '-' '-' '-'
        case 'tryouts list:--form' 'tryouts set-status:--form' 'tryouts convert:--form' 'tryouts stats:--form'
            printf '%s\n' '--form' 'again'; printf '%s\n' 'free' '-' '-' '-'
        case 'tryouts list:--since' 'tryouts set-status:--since' 'tryouts convert:--since' 'tryouts stats:--since' 'documents list:--since' 'documents update:--since' 'documents delete:--since' 'documents download:--since'
            printf '%s\n' '--since' '-'; printf '%s\n' 'free' '-' '-' '-'
        case 'tryouts list:--until' 'tryouts set-status:--until' 'tryouts convert:--until' 'tryouts stats:--until'
            printf '%s\n' '--until' '-'; printf '%s\n' 'free' '-' '-' '-'
        case 'tryouts list:--older-than' 'tryouts set-status:--older-than' 'tryouts convert:--older-than' 'tryouts stats:--older-than' 'runs prune:--older-than'
            printf '%s\n' '--older-than' '-'; printf '%s\n' 'free' '-' '-' '-'
        case 'tryouts list:--updated-since' 'tryouts set-status:--updated-since' 'tryouts convert:--updated-since' 'tryouts stats:--updated-since'
            printf '%s\n' '--updated-since' '-'; printf '%s\n' 'free' '-' '-' '-'
        case 'tryouts list:--converted' 'tryouts set-status:--converted' 'tryouts convert:--converted' 'tryouts stats:--converted'
            printf '%s\n' '--converted' '-' 'switch'
        case 'tryouts list:--unconverted' 'tryouts set-status:--unconverted' 'tryouts convert:--unconverted' 'tryouts stats:--unconverted'
            printf '%s\n' '--unconverted' '-' 'switch'
        case 'tryouts list:--with-notes' 'tryouts set-status:--with-notes' 'tryouts convert:--with-notes' 'tryouts stats:--with-notes'
            printf '%s\n' '--with-notes' '-' 'switch'
        case 'tryouts list:--without-notes' 'tryouts set-status:--without-notes' 'tryouts convert:--without-notes' 'tryouts stats:--without-notes'
            printf '%s\n' '--without-notes' '-' 'switch'
        case 'tryouts list:--where' 'tryouts set-status:--where' 'tryouts convert:--where' 'tryouts stats:--where' 'teams list:--where' 'teams update:--where' 'players list:--where' 'players update:--where' 'players delete:--where' 'documents list:--where' 'documents update:--where' 'documents delete:--where' 'documents download:--where'
            printf '%s\n' '--where' 'again'; printf '%s\n' 'fields' '-' '=' '-'
        case 'tryouts list:--search' 'tryouts set-status:--search' 'tryouts convert:--search' 'tryouts stats:--search' 'teams list:--search' 'teams update:--search' 'players list:--search' 'players update:--search' 'players delete:--search' 'documents list:--search' 'documents update:--search' 'documents delete:--search' 'documents download:--search'
            printf '%s\n' '--search' '-'; printf '%s\n' 'free' '-' '-' '-'
        case 'tryouts list:--sort' 'tryouts set-status:--sort' 'tryouts convert:--sort' 'teams list:--sort' 'teams update:--sort' 'players list:--sort' 'players update:--sort' 'players delete:--sort' 'documents list:--sort' 'documents update:--sort' 'documents delete:--sort' 'documents download:--sort'
            printf '%s\n' '--sort' '-'; printf '%s\n' 'fields' '-' '-' '-'
        case 'tryouts list:--limit' 'tryouts list:-L' 'tryouts set-status:--limit' 'tryouts set-status:-L' 'tryouts convert:--limit' 'tryouts convert:-L' 'teams list:--limit' 'teams list:-L' 'teams update:--limit' 'teams update:-L' 'players list:--limit' 'players list:-L' 'players update:--limit' 'players update:-L' 'players delete:--limit' 'players delete:-L' 'documents list:--limit' 'documents list:-L' 'documents update:--limit' 'documents update:-L' 'documents delete:--limit' 'documents delete:-L' 'documents download:--limit' 'documents download:-L'
            printf '%s\n' '--limit' '-'; printf '%s\n' 'free' '-' '-' '-'
        case 'tryouts update:--status'
            printf '%s\n' '--status' '-'; printf '%s\n' 'words' '-' '-' '-' 'pending' 'reviewing' 'shortlisted' 'accepted' 'rejected' 'withdrawn'
        case 'tryouts update:--note' 'tryouts set-status:--note'
            printf '%s\n' '--note' '-'; printf '%s\n' 'free' '-' '-' '-'
        case 'tryouts update:--note-file' 'tryouts set-status:--note-file'
            printf '%s\n' '--note-file' '-'; printf '%s\n' 'file' '-' '-' '-'
        case 'tryouts update:--append-note' 'tryouts set-status:--append-note'
            printf '%s\n' '--append-note' '-'; printf '%s\n' 'free' '-' '-' '-'
        case 'tryouts update:--clear-note' 'tryouts set-status:--clear-note'
            printf '%s\n' '--clear-note' '-' 'switch'
        case 'tryouts update:--ids' 'tryouts set-status:--ids' 'tryouts convert:--ids' 'teams update:--ids' 'players update:--ids' 'players delete:--ids' 'documents update:--ids' 'documents delete:--ids' 'documents download:--ids'
            printf '%s\n' '--ids' '-'; printf '%s\n' 'file' '-' '-' '-'
        case 'tryouts update:--csv' 'tryouts set-status:--csv' 'tryouts convert:--csv' 'teams update:--csv' 'players update:--csv' 'players delete:--csv' 'documents update:--csv' 'documents delete:--csv'
            printf '%s\n' '--csv' '-'; printf '%s\n' 'file' '-' '-' '-'
        case 'tryouts update:--map' 'tryouts set-status:--map' 'tryouts convert:--map' 'teams update:--map' 'players update:--map' 'players delete:--map' 'documents update:--map' 'documents delete:--map'
            printf '%s\n' '--map' 'again'; printf '%s\n' 'free' '-' '-' '-'
        case 'tryouts update:--ignore-columns' 'tryouts set-status:--ignore-columns' 'tryouts convert:--ignore-columns' 'teams update:--ignore-columns' 'players update:--ignore-columns' 'players delete:--ignore-columns' 'documents update:--ignore-columns' 'documents delete:--ignore-columns'
            printf '%s\n' '--ignore-columns' '-' 'switch'
        case 'tryouts update:--if-status' 'tryouts set-status:--if-status' 'tryouts convert:--if-status'
            printf '%s\n' '--if-status' 'again'; printf '%s\n' 'words' 'list' '-' '-' 'pending' 'reviewing' 'shortlisted' 'accepted' 'rejected' 'withdrawn'
        case 'tryouts update:--if' 'tryouts set-status:--if' 'tryouts convert:--if' 'teams update:--if' 'players update:--if' 'players delete:--if' 'documents update:--if' 'documents delete:--if'
            printf '%s\n' '--if' 'again'; printf '%s\n' 'fields' '-' '=' '-'
        case 'tryouts update:--expect' 'tryouts set-status:--expect' 'tryouts convert:--expect' 'teams update:--expect' 'players update:--expect' 'players delete:--expect' 'documents update:--expect' 'documents delete:--expect' 'documents upload:--expect' 'runs resume:--expect' 'runs retry:--expect' 'runs undo:--expect'
            printf '%s\n' '--expect' '-'; printf '%s\n' 'free' '-' '-' '-'
        case 'tryouts update:--max-changes' 'tryouts set-status:--max-changes' 'tryouts convert:--max-changes' 'teams update:--max-changes' 'players update:--max-changes' 'players delete:--max-changes' 'documents update:--max-changes' 'documents delete:--max-changes' 'documents upload:--max-changes' 'runs resume:--max-changes' 'runs retry:--max-changes' 'runs undo:--max-changes'
            printf '%s\n' '--max-changes' '-'; printf '%s\n' 'free' '-' '-' '-'
        case 'tryouts update:--fail-fast' 'tryouts set-status:--fail-fast' 'tryouts convert:--fail-fast' 'teams update:--fail-fast' 'players update:--fail-fast' 'players delete:--fail-fast' 'documents update:--fail-fast' 'documents delete:--fail-fast' 'documents upload:--fail-fast' 'runs resume:--fail-fast' 'runs retry:--fail-fast' 'runs undo:--fail-fast'
            printf '%s\n' '--fail-fast' '-' 'switch'
        case 'tryouts update:--max-errors' 'tryouts set-status:--max-errors' 'tryouts convert:--max-errors' 'teams update:--max-errors' 'players update:--max-errors' 'players delete:--max-errors' 'documents update:--max-errors' 'documents delete:--max-errors' 'documents upload:--max-errors' 'runs resume:--max-errors' 'runs retry:--max-errors' 'runs undo:--max-errors'
            printf '%s\n' '--max-errors' '-'; printf '%s\n' 'free' '-' '-' '-'
        case 'tryouts update:--concurrency' 'tryouts set-status:--concurrency' 'tryouts convert:--concurrency' 'teams update:--concurrency' 'players update:--concurrency' 'players delete:--concurrency' 'documents update:--concurrency' 'documents delete:--concurrency' 'documents upload:--concurrency' 'documents download:--concurrency' 'uploads finish:--concurrency' 'runs resume:--concurrency' 'runs retry:--concurrency' 'runs undo:--concurrency'
            printf '%s\n' '--concurrency' '-'; printf '%s\n' 'free' '-' '-' '-'
        case 'tryouts update:--rate' 'tryouts set-status:--rate' 'tryouts convert:--rate' 'teams update:--rate' 'players update:--rate' 'players delete:--rate' 'documents update:--rate' 'documents delete:--rate' 'documents upload:--rate' 'documents download:--rate' 'runs resume:--rate' 'runs retry:--rate' 'runs undo:--rate'
            printf '%s\n' '--rate' '-'; printf '%s\n' 'free' '-' '-' '-'
        case 'tryouts update:--restart' 'tryouts set-status:--restart' 'tryouts convert:--restart' 'teams create:--restart' 'teams update:--restart' 'players create:--restart' 'players update:--restart' 'players delete:--restart' 'documents create:--restart' 'documents update:--restart' 'documents delete:--restart' 'documents upload:--restart' 'runs undo:--restart'
            printf '%s\n' '--restart' '-' 'switch'
        case 'tryouts update:--wait-lock' 'tryouts set-status:--wait-lock' 'tryouts convert:--wait-lock' 'teams update:--wait-lock' 'players update:--wait-lock' 'players delete:--wait-lock' 'documents update:--wait-lock' 'documents delete:--wait-lock' 'documents upload:--wait-lock' 'uploads finish:--wait-lock' 'runs resume:--wait-lock' 'runs retry:--wait-lock' 'runs undo:--wait-lock'
            printf '%s\n' '--wait-lock' '-'; printf '%s\n' 'free' '-' '-' '-'
        case 'tryouts update:--results' 'tryouts set-status:--results' 'tryouts convert:--results' 'teams update:--results' 'players update:--results' 'players delete:--results' 'documents update:--results' 'documents delete:--results' 'documents upload:--results' 'runs undo:--results'
            printf '%s\n' '--results' '-'; printf '%s\n' 'file' '-' '-' '-'
        case 'tryouts update:--exit-code' 'tryouts set-status:--exit-code' 'tryouts convert:--exit-code' 'teams update:--exit-code' 'players update:--exit-code' 'players delete:--exit-code' 'documents update:--exit-code' 'documents delete:--exit-code' 'documents upload:--exit-code'
            printf '%s\n' '--exit-code' '-' 'switch'
        case 'tryouts set-status:--to'
            printf '%s\n' '--to' '-'; printf '%s\n' 'words' '-' '-' '-' 'pending' 'reviewing' 'shortlisted' 'accepted' 'rejected' 'withdrawn'
        case 'tryouts set-status:--all' 'tryouts convert:--all' 'teams update:--all' 'players update:--all' 'players delete:--all' 'documents update:--all' 'documents delete:--all' 'documents download:--all' 'uploads finish:--all' 'runs list:--all' 'auth status:--all'
            printf '%s\n' '--all' '-' 'switch'
        case 'tryouts set-status:--allow-partial' 'tryouts convert:--allow-partial' 'teams update:--allow-partial' 'players update:--allow-partial' 'players delete:--allow-partial' 'documents update:--allow-partial' 'documents delete:--allow-partial' 'documents download:--allow-partial'
            printf '%s\n' '--allow-partial' '-' 'switch'
        case 'tryouts convert:--accept'
            printf '%s\n' '--accept' '-' 'switch'
        case 'tryouts convert:--set' 'tryouts convert:-F' 'teams create:--set' 'teams create:-F' 'teams update:--set' 'teams update:-F' 'players create:--set' 'players create:-F' 'players update:--set' 'players update:-F' 'documents update:--set' 'documents update:-F' 'api:--set' 'api:-F'
            printf '%s\n' '--set' 'again'; printf '%s\n' 'fields' '-' '=' '-'
        case 'tryouts convert:--set-string' 'tryouts convert:-f' 'teams create:--set-string' 'teams create:-f' 'teams update:--set-string' 'teams update:-f' 'players create:--set-string' 'players create:-f' 'players update:--set-string' 'players update:-f' 'documents update:--set-string' 'documents update:-f' 'api:--set-string' 'api:-f'
            printf '%s\n' '--set-string' 'again'; printf '%s\n' 'fields' '-' '=' '-'
        case 'tryouts convert:--input' 'teams create:--input' 'teams update:--input' 'players create:--input' 'players update:--input' 'documents update:--input' 'api:--input'
            printf '%s\n' '--input' '-'; printf '%s\n' 'file' '-' '-' '-'
        case 'teams create:--name' 'teams update:--name' 'players create:--name' 'players update:--name' 'documents create:--name' 'documents update:--name' 'documents upload:--name'
            printf '%s\n' '--name' '-'; printf '%s\n' 'free' '-' '-' '-'
        case 'teams update:--route' 'teams delete:--route' 'players update:--route' 'players delete:--route' 'documents update:--route' 'documents delete:--route'
            printf '%s\n' '--route' '-'; printf '%s\n' 'free' '-' '-' '-'
        case 'teams delete:--confirm'
            printf '%s\n' '--confirm' '-'; printf '%s\n' 'free' '-' '-' '-'
        case 'players list:--team' 'players update:--team' 'players delete:--team'
            printf '%s\n' '--team' '-'; printf '%s\n' 'words' '-' '-' 'id:teams'
        case 'documents list:--tag' 'documents create:--tag' 'documents update:--tag' 'documents delete:--tag' 'documents upload:--tag' 'documents download:--tag'
            printf '%s\n' '--tag' 'again'; printf '%s\n' 'free' '-' '-' '-'
        case 'documents list:--type' 'documents update:--type' 'documents delete:--type' 'documents download:--type'
            printf '%s\n' '--type' '-'; printf '%s\n' 'free' '-' '-' '-'
        case 'documents create:--file-key'
            printf '%s\n' '--file-key' '-'; printf '%s\n' 'free' '-' '-' '-'
        case 'documents create:--file-ref'
            printf '%s\n' '--file-ref' '-'; printf '%s\n' 'free' '-' '-' '-'
        case 'documents create:--content-type' 'documents upload:--content-type' 'uploads create:--content-type' 'uploads put:--content-type'
            printf '%s\n' '--content-type' '-'; printf '%s\n' 'words' '-' '-' '-' 'application/pdf' 'application/msword' 'application/vnd.openxmlformats-officedocument.wordprocessingml.document' 'application/vnd.ms-excel' 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet' 'text/plain' 'image/jpeg' 'image/png' 'image/webp' 'image/gif'
        case 'documents create:--size-bytes' 'uploads create:--size-bytes'
            printf '%s\n' '--size-bytes' '-'; printf '%s\n' 'free' '-' '-' '-'
        case 'documents update:--add-tag'
            printf '%s\n' '--add-tag' 'again'; printf '%s\n' 'free' '-' '-' '-'
        case 'documents update:--remove-tag'
            printf '%s\n' '--remove-tag' 'again'; printf '%s\n' 'free' '-' '-' '-'
        case 'documents upload:--recursive' 'documents upload:-r'
            printf '%s\n' '--recursive' '-' 'switch'
        case 'documents upload:--if-exists'
            printf '%s\n' '--if-exists' '-'; printf '%s\n' 'words' '-' '-' '-' 'duplicate' 'skip' 'error'
        case 'documents upload:--verify'
            printf '%s\n' '--verify' '-' 'switch'
        case 'documents download:--file' 'documents download:-O' 'documents preview:--file' 'documents preview:-O'
            printf '%s\n' '--file' '-'; printf '%s\n' 'file' '-' '-' '-'
        case 'documents download:--dir' 'documents download:-D' 'documents preview:--dir' 'documents preview:-D'
            printf '%s\n' '--dir' '-'; printf '%s\n' 'directory' '-' '-' '-'
        case 'documents download:--skip-existing' 'documents preview:--skip-existing'
            printf '%s\n' '--skip-existing' '-' 'switch'
        case 'documents download:--overwrite' 'documents preview:--overwrite'
            printf '%s\n' '--overwrite' '-' 'switch'
        case 'documents download:--url' 'documents preview:--url'
            printf '%s\n' '--url' '-' 'switch'
        case 'runs show:--failed'
            printf '%s\n' '--failed' '-' 'switch'
        case 'runs show:--undoable'
            printf '%s\n' '--undoable' '-' 'switch'
        case 'runs undo:--only'
            printf '%s\n' '--only' 'again'; printf '%s\n' 'free' 'list' '-' '-'
        case 'auth login:--key-stdin'
            printf '%s\n' '--key-stdin' '-' 'switch'
        case 'auth login:--key-file'
            printf '%s\n' '--key-file' '-'; printf '%s\n' 'file' '-' '-' '-'
        case 'auth login:--no-check'
            printf '%s\n' '--no-check' '-' 'switch'
        case 'auth status:--offline'
            printf '%s\n' '--offline' '-' 'switch'
        case 'config list:--show-origin'
            printf '%s\n' '--show-origin' '-' 'switch'
        case 'api:--method' 'api:-X'
            printf '%s\n' '--method' '-'; printf '%s\n' 'free' '-' '-' '-'
        case 'api:--param'
            printf '%s\n' '--param' 'again'; printf '%s\n' 'free' '-' '-' '-'
        case 'api:--include' 'api:-i'
            printf '%s\n' '--include' '-' 'switch'
        case 'api:--paginate'
            printf '%s\n' '--paginate' '-' 'switch'
        case 'sandbox start:--port'
            printf '%s\n' '--port' '-'; printf '%s\n' 'free' '-' '-' '-'
        case 'sandbox start:--data'
            printf '%s\n' '--data' '-'; printf '%s\n' 'directory' '-' '-' '-'
        case 'sandbox start:--seed-size'
            printf '%s\n' '--seed-size' '-'; printf '%s\n' 'words' '-' '-' '-' 'small' 'large'
        case 'sandbox start:--fault'
            printf '%s\n' '--fault' 'again'; printf '%s\n' 'free' '-' '-' '-'
        case 'sandbox start:--strict-events'
            printf '%s\n' '--strict-events' '-' 'switch'
        case 'completion:--install'
            printf '%s\n' '--install' '-' 'switch'
        case 'completion:--uninstall'
            printf '%s\n' '--uninstall' '-' 'switch'
        case '*'
            false
    end; and return
    switch "$argv[2]"
        case '--profile' '-p'
            printf '%s\n' '--profile' '-'; printf '%s\n' 'words' '-' '-' 'profile'
        case '--org'
            printf '%s\n' '--org' '-'; printf '%s\n' 'free' '-' '-' '-'
        case '--base-url'
            printf '%s\n' '--base-url' '-'; printf '%s\n' 'free' '-' '-' '-'
        case '--output' '-o'
            printf '%s\n' '--output' '-'; printf '%s\n' 'words' '-' '-' '-' 'table' 'json' 'ndjson' 'csv' 'ids'
        case '--json'
            printf '%s\n' '--json' '-' 'switch'
        case '--fields'
            printf '%s\n' '--fields' '-'; printf '%s\n' 'fields' 'list' '-' '-'
        case '--out'
            printf '%s\n' '--out' '-'; printf '%s\n' 'file' '-' '-' '-'
        case '--bom'
            printf '%s\n' '--bom' '-' 'switch'
        case '--delimiter'
            printf '%s\n' '--delimiter' '-'; printf '%s\n' 'free' '-' '-' '-'
        case '--csv-raw'
            printf '%s\n' '--csv-raw' '-' 'switch'
        case '--no-header'
            printf '%s\n' '--no-header' '-' 'switch'
        case '--time'
            printf '%s\n' '--time' '-'; printf '%s\n' 'words' '-' '-' '-' 'iso' 'local' 'relative'
        case '--dry-run' '-n'
            printf '%s\n' '--dry-run' '-' 'switch'
        case '--yes' '-y'
            printf '%s\n' '--yes' '-' 'switch'
        case '--no-input'
            printf '%s\n' '--no-input' '-' 'switch'
        case '--quiet' '-q'
            printf '%s\n' '--quiet' '-' 'switch'
        case '--verbose' '-v'
            printf '%s\n' '--verbose' '-' 'switch'
        case '--debug'
            printf '%s\n' '--debug' '-' 'switch'
        case '--strict'
            printf '%s\n' '--strict' '-' 'switch'
        case '--no-color'
            printf '%s\n' '--no-color' '-' 'switch'
        case '--no-pager'
            printf '%s\n' '--no-pager' '-' 'switch'
        case '--timeout'
            printf '%s\n' '--timeout' '-'; printf '%s\n' 'free' '-' '-' '-'
        case '--retries'
            printf '%s\n' '--retries' '-'; printf '%s\n' 'free' '-' '-' '-'
        case '--max-wait'
            printf '%s\n' '--max-wait' '-'; printf '%s\n' 'free' '-' '-' '-'
        case '--max-time'
            printf '%s\n' '--max-time' '-'; printf '%s\n' 'free' '-' '-' '-'
        case '--help' '-h'
            printf '%s\n' '--help' '-' 'switch'
        case '*'
            printf '%s\n' '-' '-' 'unknown'
    end
end

function __rosterctl_arg # command, number: slot
    switch "$argv[1]:$argv[2]"
        case 'teams delete:0' 'teams get:*' 'teams update:*'
            printf '%s\n' 'words' '-' '-' 'id:teams'
        case 'documents preview:0' 'documents get:*' 'documents update:*' 'documents delete:*' 'documents download:*'
            printf '%s\n' 'words' '-' '-' 'id:documents'
        case 'uploads finish:0' 'uploads forget:0' 'uploads put:0' 'runs show:0' 'runs resume:0' 'runs retry:0' 'runs undo:0' 'runs prune:0' 'profile rename:1' 'api:0'
            printf '%s\n' 'free' '-' '-' '-'
        case 'uploads put:1' 'documents upload:*'
            printf '%s\n' 'file' '-' '-' '-'
        case 'profile show:0' 'profile use:0' 'profile rename:0' 'profile remove:0'
            printf '%s\n' 'words' '-' '-' 'profile'
        case 'config get:0' 'config set:0' 'config unset:0'
            printf '%s\n' 'words' '-' '-' '-' 'output'\t'how results are printed' 'time'\t'how times are written' 'timeout'\t'how long to wait for the first byte of an answer' 'retries'\t'extra attempts after the first' 'maxWait'\t'longest single wait that a Retry-After may cause' 'concurrency'\t'requests at once in a bulk run' 'rate'\t'requests per second in a bulk run' 'pager'\t'the program that shows long output; none for none' 'undo.keep'\t'how long runs undo stays possible, or off' 'completion.cache'\t'remember ids for completion' 'key.command'\t'a program that prints the key' 'endpoints.teams.update'\t'the update call' 'endpoints.teams.update.semantics'\t'what an update leaves out stays or goes' 'endpoints.teams.update.org'\t'where the update call carries organizationId' 'endpoints.teams.delete'\t'the delete call' 'endpoints.teams.delete.org'\t'where the delete call carries organizationId' 'endpoints.players.update'\t'the update call' 'endpoints.players.update.semantics'\t'what an update leaves out stays or goes' 'endpoints.players.update.org'\t'where the update call carries organizationId' 'endpoints.players.delete'\t'the delete call' 'endpoints.players.delete.org'\t'where the delete call carries organizationId' 'endpoints.documents.update'\t'the update call' 'endpoints.documents.update.semantics'\t'what an update leaves out stays or goes' 'endpoints.documents.update.org'\t'where the update call carries organizationId' 'endpoints.documents.delete'\t'the delete call' 'endpoints.documents.delete.org'\t'where the delete call carries organizationId' 'lists.teams.path'\t'where the records stand in the answer' 'lists.teams.query'\t'query parameters of the list call' 'columns.teams'\t'columns of the table' 'readOnly.teams'\t'fields never sent back' 'lists.players.path'\t'where the records stand in the answer' 'lists.players.query'\t'query parameters of the list call' 'columns.players'\t'columns of the table' 'readOnly.players'\t'fields never sent back' 'lists.documents.path'\t'where the records stand in the answer' 'lists.documents.query'\t'query parameters of the list call' 'columns.documents'\t'columns of the table' 'readOnly.documents'\t'fields never sent back' 'lists.tryouts.path'\t'where the records stand in the answer' 'lists.tryouts.query'\t'query parameters of the list call' 'columns.tryouts'\t'columns of the table' 'readOnly.tryouts'\t'fields never sent back' 'paging.mode'\t'how the service pages' 'paging.params.page'\t'the query parameter for page' 'paging.params.limit'\t'the query parameter for limit' 'paging.params.offset'\t'the query parameter for offset' 'paging.params.cursor'\t'the query parameter for cursor' 'paging.params.after'\t'the query parameter for after' 'paging.params.pageToken'\t'the query parameter for pageToken' 'paging.size'\t'how many records to ask for at once' 'filters.tryouts.status'\t'the query parameter of the service\'s own filter by status, sent for a single one' 'download.urlPath'\t'where the signed URL stands in the answer' 'upload.maxBytes'\t'refuse larger files before asking'
        case 'config set:1'
            printf '%s\n' 'words' '-' '-' 'configValue'
        case 'completion:0'
            printf '%s\n' 'words' '-' '-' '-' 'bash' 'zsh' 'fish' 'powershell'
        case 'tryouts get:*' 'tryouts update:*' 'tryouts set-status:*' 'tryouts convert:*'
            printf '%s\n' 'words' '-' '-' 'id:tryouts'
        case 'players get:*' 'players update:*' 'players delete:*'
            printf '%s\n' 'words' '-' '-' 'id:players'
        case 'help:*'
            printf '%s\n' 'topic' '-' '-' '-'
    end
end

function __rosterctl_fields # command: what to ask or -, then fields
    switch "$argv[1]"
        case 'tryouts list' 'tryouts get' 'tryouts update' 'tryouts set-status' 'tryouts convert'
            printf '%s\n' 'field:tryouts' 'id' 'organizationId' 'status' 'name' 'email' 'discordUserId' 'discordUsername' 'formResponses' 'internalNotes' 'convertedPlayerId' 'convertedPlayer' 'gamerTags' 'submittedAt' 'createdAt' 'updatedAt'
        case 'tryouts stats'
            printf '%s\n' 'field:tryouts'
        case 'teams list' 'teams get' 'teams create' 'teams update'
            printf '%s\n' 'field:teams' 'id'
        case 'teams delete'
            printf '%s\n' 'field:teams'
        case 'players list' 'players get' 'players create' 'players update'
            printf '%s\n' 'field:players' 'id'
        case 'players delete'
            printf '%s\n' 'field:players'
        case 'documents list' 'documents get' 'documents create' 'documents update' 'documents upload'
            printf '%s\n' 'field:documents' 'id'
        case 'documents delete' 'documents download' 'documents preview'
            printf '%s\n' 'field:documents'
        case 'uploads list'
            printf '%s\n' '-' 'id' 'path' 'state' 'fileKey' 'startedAt'
        case 'uploads finish'
            printf '%s\n' '-' 'id'
        case 'uploads forget' 'uploads create' 'uploads put' 'runs show' 'runs resume' 'runs retry' 'runs undo' 'runs prune' 'auth login' 'auth status' 'auth logout' 'profile show' 'profile use' 'profile rename' 'profile remove' 'config get' 'config set' 'config unset' 'config path' 'api' 'sandbox start' 'sandbox reset' 'doctor' 'completion' 'help'
            printf '%s\n' '-'
        case 'runs list'
            printf '%s\n' '-' 'run' 'action' 'state' 'summary.total' 'summary.changed' 'summary.failed' 'startedAt' 'profile'
        case 'profile list'
            printf '%s\n' '-' 'name' 'organization' 'baseUrl' 'active'
        case 'config list'
            printf '%s\n' '-' 'key' 'value' 'origin'
        case 'sandbox events'
            printf '%s\n' '-' 'kind' 'applicationId' 'at'
        case 'commands'
            printf '%s\n' '-' 'command' 'summary' 'basis'
        case '*'
            printf '%s\n' '-'
    end
end

function __rosterctl_topics # what help explains
    printf '%s\n' 'environment'\t'variables that the tool reads' 'exit-codes'\t'what each exit code means' 'output'\t'formats, streams, what scripts can rely on' 'bulk'\t'changing records: selection, preview, journal, resume, undo' 'undocumented'\t'what is assumed about the service, and how to replace it' 'sandbox'\t'the embedded demo service and what it invents' 'security'\t'where the key goes and where it never goes'
end

function __rosterctl_complete
    set -l typed (commandline -opc)
    set -l program rosterctl
    if string match -q '*/*' -- $typed[1]; and test -x "$typed[1]"
        set program $typed[1]
    end
    set -e typed[1]
    set -l cur (commandline -ct)
    set -l state (__rosterctl_walk $typed)
    set -l noun $state[1]
    set -l cmd $state[2]
    set -l wanted $state[3]
    set -l prefix ''
    set -l slot
    if test "$wanted" != -
        set slot (__rosterctl_flag $cmd $wanted)
        set -e slot[1 2]
    else if test "$state[4]" != ended; and string match -q -- '--*=*' $cur
        set -l flag (string replace -r '=.*' '' -- $cur)
        set prefix "$flag="
        set slot (__rosterctl_flag $cmd $flag)
        set -e slot[1 2]
        if test "$flag" = --json
            set slot fields list - -
        end
    else if test "$state[4]" != ended; and string match -q -- '-*' $cur
        __rosterctl_offer_flags $cmd $state[7..-1]
        return
    else if test "$noun" = -
        __rosterctl_names "$cur" (__rosterctl_words '')
        return
    else if test "$cmd" = -
        __rosterctl_names "$cur" (__rosterctl_words $noun)
        return
    else
        set slot (__rosterctl_arg $cmd $state[5])
    end
    # slot: kind, list or -, what ends a word or -, what to ask or -, then the choices
    set -l value (string sub -s (math (string length -- "$prefix") + 1) -- "$cur")
    switch "$slot[1]"
        case words
            __rosterctl_values "$prefix" "$value" $slot[2] $slot[3] $slot[5..-1] (__rosterctl_ask $program "$slot[4]" $typed)
        case fields
            set -l fields (__rosterctl_fields $cmd)
            __rosterctl_values "$prefix" "$value" $slot[2] $slot[3] $fields[2..-1] (__rosterctl_ask $program "$fields[1]" $typed)
        case topic
            __rosterctl_offer_topic "$cur" $state[5] $state[6]
        case file
            __rosterctl_paths "$prefix" (__fish_complete_path $value)
        case directory
            __rosterctl_paths "$prefix" (__fish_complete_directories $value '')
    end
end

# Reads the words before the cursor. Prints noun, command, the flag that waits for its value, ended,
# number of words after the command, the first of them, then the flags given; - stands for none.
function __rosterctl_walk
    set -l noun -
    set -l cmd -
    set -l wanted -
    set -l ended -
    set -l first -
    set -l count 0
    set -l given
    for word in $argv
        if test "$wanted" != -
            set wanted -
        else if test $ended = ended; or not string match -q -- '-?*' $word
            if test "$noun" = -
                set -l found (__rosterctl_noun $word)
                set noun $found[1]
                set cmd $found[2]
            else if test "$cmd" = -
                set cmd (__rosterctl_verb "$noun $word")
            else
                test $count -gt 0; or set first $word
                set count (math $count + 1)
            end
        else if test "$word" = --
            set ended ended
        else if string match -q -- '--*' $word
            set -l flag (__rosterctl_flag $cmd (string replace -r '=.*' '' -- $word))
            test "$flag[2]" = again; or set given $given $flag[1]
            if test "$flag[3]" != switch; and test "$flag[3]" != unknown; and not string match -q '*=*' -- $word
                set wanted $flag[1]
            end
        else
            # -qy are two switches, -pNAME is one flag with its value.
            set -l letters (string split '' -- (string sub -s 2 -- $word))
            for index in (seq (count $letters))
                set -l flag (__rosterctl_flag $cmd -$letters[$index])
                test "$flag[2]" = again; or set given $given $flag[1]
                if test "$flag[3]" != switch; and test "$flag[3]" != unknown
                    test $index -lt (count $letters); or set wanted $flag[1]
                    break
                end
            end
        end
    end
    printf '%s\n' $noun $cmd $wanted $ended $count $first $given
end

# Own names first; what a thing is also called only where no own name fits.
function __rosterctl_names # the word so far, names, --, aliases
    set -l at (contains -i -- -- $argv)
    set -l names $argv[2..(math $at - 1)]
    if test "$argv[1]" = ''; or string match -qr -- '^'(string escape --style=regex -- $argv[1]) $names
        printf '%s\n' $names
    else if test $at -lt (count $argv)
        printf '%s\n' $argv[(math $at + 1)..-1]
    end
end

function __rosterctl_offer_topic # the word so far, words before it, the first of them
    if test $argv[2] -eq 0
        __rosterctl_topics
        __rosterctl_names "$argv[1]" (__rosterctl_words '')
    else if test $argv[2] -eq 1
        set -l found (__rosterctl_noun $argv[3])
        set -l verbs (__rosterctl_words $found[1])
        test (count $verbs) -lt 2; or __rosterctl_names "$argv[1]" $verbs
    end
end

function __rosterctl_offer_flags # command, flags given
    set -l own (__rosterctl_flags $argv[1])
    set -l names (string replace -r '\t.*' '' -- $own)
    for line in $own
        contains -- (string replace -r '\t.*' '' -- $line) $argv[2..-1]; or printf "%s\n" $line
    end
    for line in (__rosterctl_global_flags)
        contains -- (string replace -r '\t.*' '' -- $line) $argv[2..-1] $names; or printf "%s\n" $line
    end
end

function __rosterctl_values # what stands before, the value so far, list or -, its end or -, choices
    set -l prefix $argv[1]
    set -l chosen
    set -l ends ''
    test "$argv[4]" = -; or set ends $argv[4]
    if test "$argv[3]" = list; and string match -q '*,*' -- $argv[2]
        set -l before (string replace -r '[^,]*$' '' -- $argv[2])
        set prefix $prefix$before
        set chosen (string split , -- $before)
    end
    for line in $argv[5..-1]
        set -l parts (string split -m 1 \t -- $line)
        contains -- $parts[1] $chosen; and continue
        printf '%s\t%s\n' $prefix$parts[1]$ends "$parts[2]"
    end
end

function __rosterctl_paths
    for line in $argv[2..-1]
        printf "%s\n" $argv[1]$line
    end
end

# Ids, profiles and field names, from what this machine remembers.
function __rosterctl_ask # program, kind or -, the words typed
    test "$argv[2]" = -; and return
    command $argv[1] __complete $argv[2] -- $argv[3..-1] 2>/dev/null </dev/null
end

complete -c rosterctl -e
complete -c rosterctl -f -k -a '(__rosterctl_complete)'
