# Completion of rosterctl for bash 3.2 and later; needs no bash-completion package.
# Generated from the command table: rosterctl completion bash

__rosterctl_noun() { # word: what it is called in the table
  case "$1" in
    'tryouts' | 'tryout') noun='tryouts' ;;
    'teams' | 'team') noun='teams' ;;
    'players' | 'player') noun='players' ;;
    'documents' | 'docs' | 'doc' | 'document') noun='documents' ;;
    'uploads' | 'upload') noun='uploads' ;;
    'runs' | 'run') noun='runs' ;;
    'auth') noun='auth' ;;
    'profile' | 'profiles') noun='profile' ;;
    'config') noun='config' ;;
    'sandbox') noun='sandbox' ;;
    'api') noun='api' command='api' ;;
    'doctor') noun='doctor' command='doctor' ;;
    'completion') noun='completion' command='completion' ;;
    'commands') noun='commands' command='commands' ;;
    'help') noun='help' command='help' ;;
    *) noun='?' command='?' ;;
  esac
}

__rosterctl_verb() { # noun, word: the command
  case "$1 $2" in
    'tryouts list' | 'tryouts ls') command='tryouts list' ;;
    'tryouts get' | 'tryouts view') command='tryouts get' ;;
    'tryouts update' | 'tryouts edit') command='tryouts update' ;;
    'tryouts set-status') command='tryouts set-status' ;;
    'tryouts convert') command='tryouts convert' ;;
    'tryouts stats') command='tryouts stats' ;;
    'teams list' | 'teams ls') command='teams list' ;;
    'teams get' | 'teams view') command='teams get' ;;
    'teams create' | 'teams new') command='teams create' ;;
    'teams update' | 'teams edit') command='teams update' ;;
    'teams delete' | 'teams rm') command='teams delete' ;;
    'players list' | 'players ls') command='players list' ;;
    'players get' | 'players view') command='players get' ;;
    'players create' | 'players new') command='players create' ;;
    'players update' | 'players edit') command='players update' ;;
    'players delete' | 'players rm') command='players delete' ;;
    'documents list' | 'documents ls') command='documents list' ;;
    'documents get' | 'documents view') command='documents get' ;;
    'documents create' | 'documents new') command='documents create' ;;
    'documents update' | 'documents edit') command='documents update' ;;
    'documents delete' | 'documents rm') command='documents delete' ;;
    'documents upload') command='documents upload' ;;
    'documents download') command='documents download' ;;
    'documents preview') command='documents preview' ;;
    'uploads list' | 'uploads ls') command='uploads list' ;;
    'uploads finish') command='uploads finish' ;;
    'uploads forget') command='uploads forget' ;;
    'uploads create' | 'uploads new') command='uploads create' ;;
    'uploads put') command='uploads put' ;;
    'runs list' | 'runs ls') command='runs list' ;;
    'runs show') command='runs show' ;;
    'runs resume') command='runs resume' ;;
    'runs retry') command='runs retry' ;;
    'runs undo') command='runs undo' ;;
    'runs prune') command='runs prune' ;;
    'auth login') command='auth login' ;;
    'auth status') command='auth status' ;;
    'auth logout') command='auth logout' ;;
    'profile list' | 'profile ls') command='profile list' ;;
    'profile show') command='profile show' ;;
    'profile use') command='profile use' ;;
    'profile rename') command='profile rename' ;;
    'profile remove') command='profile remove' ;;
    'config list' | 'config ls') command='config list' ;;
    'config get' | 'config view') command='config get' ;;
    'config set') command='config set' ;;
    'config unset') command='config unset' ;;
    'config path') command='config path' ;;
    'sandbox start') command='sandbox start' ;;
    'sandbox reset') command='sandbox reset' ;;
    'sandbox events') command='sandbox events' ;;
    *) command='?' ;;
  esac
}

__rosterctl_words() { # noun, or nothing: what may stand there
  choices=() aliases=()
  case "$1" in
    '') choices=('tryouts' 'teams' 'players' 'documents' 'uploads' 'runs' 'auth' 'profile' 'config' 'sandbox' 'api' 'doctor' 'completion' 'commands' 'help') aliases=('tryout' 'team' 'player' 'docs' 'doc' 'document' 'upload' 'run' 'profiles') ;;
    'tryouts') choices=('list' 'get' 'update' 'set-status' 'convert' 'stats') aliases=('ls' 'view' 'edit') ;;
    'teams' | 'players') choices=('list' 'get' 'create' 'update' 'delete') aliases=('ls' 'view' 'new' 'edit' 'rm') ;;
    'documents') choices=('list' 'get' 'create' 'update' 'delete' 'upload' 'download' 'preview') aliases=('ls' 'view' 'new' 'edit' 'rm') ;;
    'uploads') choices=('list' 'finish' 'forget' 'create' 'put') aliases=('ls' 'new') ;;
    'runs') choices=('list' 'show' 'resume' 'retry' 'undo' 'prune') aliases=('ls') ;;
    'auth') choices=('login' 'status' 'logout') aliases=() ;;
    'profile') choices=('list' 'show' 'use' 'rename' 'remove') aliases=('ls') ;;
    'config') choices=('list' 'get' 'set' 'unset' 'path') aliases=('ls' 'view') ;;
    'sandbox') choices=('start' 'reset' 'events') aliases=() ;;
  esac
}

__rosterctl_flags() { # command: its own flags
  choices=() own=' '
  case "$1" in
    'tryouts list') choices=('--status' '--not-status' '--game' '--form' '--since' '--until' '--older-than' '--updated-since' '--converted' '--unconverted' '--with-notes' '--without-notes' '--where' '--search' '--sort' '--limit') ;;
    'tryouts get' | 'teams get' | 'players get' | 'documents get' | 'uploads list' | 'uploads forget' | 'auth logout' | 'profile list' | 'profile show' | 'profile use' | 'profile rename' | 'profile remove' | 'config get' | 'config set' | 'config unset' | 'config path' | 'sandbox reset' | 'sandbox events' | 'doctor' | 'commands' | 'help') choices=() ;;
    'tryouts update') choices=('--status' '--note' '--note-file' '--append-note' '--clear-note' '--ids' '--csv' '--map' '--ignore-columns' '--if-status' '--if' '--expect' '--max-changes' '--fail-fast' '--max-errors' '--concurrency' '--rate' '--restart' '--wait-lock' '--results' '--exit-code') ;;
    'tryouts set-status') choices=('--to' '--note' '--note-file' '--append-note' '--clear-note' '--ids' '--csv' '--map' '--ignore-columns' '--status' '--not-status' '--game' '--form' '--since' '--until' '--older-than' '--updated-since' '--converted' '--unconverted' '--with-notes' '--without-notes' '--where' '--search' '--sort' '--limit' '--all' '--allow-partial' '--if-status' '--if' '--expect' '--max-changes' '--fail-fast' '--max-errors' '--concurrency' '--rate' '--restart' '--wait-lock' '--results' '--exit-code') ;;
    'tryouts convert') choices=('--accept' '--set' '--set-string' '--input' '--ids' '--csv' '--map' '--ignore-columns' '--status' '--not-status' '--game' '--form' '--since' '--until' '--older-than' '--updated-since' '--converted' '--unconverted' '--with-notes' '--without-notes' '--where' '--search' '--sort' '--limit' '--all' '--allow-partial' '--if-status' '--if' '--expect' '--max-changes' '--fail-fast' '--max-errors' '--concurrency' '--rate' '--restart' '--wait-lock' '--results' '--exit-code') ;;
    'tryouts stats') choices=('--status' '--not-status' '--game' '--form' '--since' '--until' '--older-than' '--updated-since' '--converted' '--unconverted' '--with-notes' '--without-notes' '--where' '--search') ;;
    'teams list') choices=('--where' '--search' '--sort' '--limit') ;;
    'teams create' | 'players create') choices=('--name' '--set' '--set-string' '--input' '--restart') ;;
    'teams update') choices=('--name' '--set' '--set-string' '--input' '--route' '--ids' '--csv' '--map' '--ignore-columns' '--where' '--search' '--sort' '--limit' '--all' '--allow-partial' '--if' '--expect' '--max-changes' '--fail-fast' '--max-errors' '--concurrency' '--rate' '--restart' '--wait-lock' '--results' '--exit-code') ;;
    'teams delete') choices=('--confirm' '--route') ;;
    'players list') choices=('--team' '--where' '--search' '--sort' '--limit') ;;
    'players update') choices=('--name' '--set' '--set-string' '--input' '--route' '--ids' '--csv' '--map' '--ignore-columns' '--team' '--where' '--search' '--sort' '--limit' '--all' '--allow-partial' '--if' '--expect' '--max-changes' '--fail-fast' '--max-errors' '--concurrency' '--rate' '--restart' '--wait-lock' '--results' '--exit-code') ;;
    'players delete') choices=('--route' '--ids' '--csv' '--map' '--ignore-columns' '--team' '--where' '--search' '--sort' '--limit' '--all' '--allow-partial' '--if' '--expect' '--max-changes' '--fail-fast' '--max-errors' '--concurrency' '--rate' '--restart' '--wait-lock' '--results' '--exit-code') ;;
    'documents list') choices=('--tag' '--type' '--since' '--where' '--search' '--sort' '--limit') ;;
    'documents create') choices=('--file-key' '--file-ref' '--content-type' '--size-bytes' '--name' '--tag' '--restart') ;;
    'documents update') choices=('--name' '--add-tag' '--remove-tag' '--tag' '--set' '--set-string' '--input' '--route' '--ids' '--csv' '--map' '--ignore-columns' '--type' '--since' '--where' '--search' '--sort' '--limit' '--all' '--allow-partial' '--if' '--expect' '--max-changes' '--fail-fast' '--max-errors' '--concurrency' '--rate' '--restart' '--wait-lock' '--results' '--exit-code') ;;
    'documents delete') choices=('--route' '--ids' '--csv' '--map' '--ignore-columns' '--tag' '--type' '--since' '--where' '--search' '--sort' '--limit' '--all' '--allow-partial' '--if' '--expect' '--max-changes' '--fail-fast' '--max-errors' '--concurrency' '--rate' '--restart' '--wait-lock' '--results' '--exit-code') ;;
    'documents upload') choices=('--recursive' '--name' '--tag' '--content-type' '--if-exists' '--verify' '--concurrency' '--expect' '--max-changes' '--fail-fast' '--max-errors' '--rate' '--restart' '--wait-lock' '--results' '--exit-code') ;;
    'documents download') choices=('--file' '--dir' '--skip-existing' '--overwrite' '--url' '--ids' '--tag' '--type' '--since' '--where' '--search' '--sort' '--limit' '--all' '--allow-partial' '--concurrency' '--rate') ;;
    'documents preview') choices=('--file' '--dir' '--skip-existing' '--overwrite' '--url') ;;
    'uploads finish') choices=('--all' '--concurrency' '--wait-lock') ;;
    'uploads create') choices=('--content-type' '--size-bytes') ;;
    'uploads put') choices=('--content-type') ;;
    'runs list') choices=('--all') ;;
    'runs show') choices=('--failed' '--undoable') ;;
    'runs resume' | 'runs retry') choices=('--max-changes' '--expect' '--fail-fast' '--max-errors' '--concurrency' '--rate' '--wait-lock') ;;
    'runs undo') choices=('--only' '--max-changes' '--expect' '--fail-fast' '--max-errors' '--concurrency' '--rate' '--wait-lock' '--restart' '--results') ;;
    'runs prune') choices=('--older-than') ;;
    'auth login') choices=('--key-stdin' '--key-file' '--no-check') ;;
    'auth status') choices=('--all' '--offline') ;;
    'config list') choices=('--show-origin') ;;
    'api') choices=('--method' '--set' '--set-string' '--input' '--param' '--include' '--paginate') ;;
    'sandbox start') choices=('--port' '--data' '--seed-size' '--fault' '--strict-events') ;;
    'completion') choices=('--install' '--uninstall') ;;
  esac
}

__rosterctl_global_flags() { # the flags of every command
  choices=('--profile' '--org' '--base-url' '--output' '--json' '--fields' '--out' '--bom' '--delimiter' '--csv-raw' '--no-header' '--time' '--dry-run' '--yes' '--no-input' '--quiet' '--verbose' '--debug' '--strict' '--no-color' '--no-pager' '--timeout' '--retries' '--max-wait' '--max-time' '--help')
}

__rosterctl_flag() { # command, flag: what it takes
  slot= choices=() list= ends= ask= again= long=
  case "$1:$2" in
    'tryouts list:--status' | 'tryouts set-status:--status' | 'tryouts convert:--status' | 'tryouts stats:--status') long=--status slot=words choices=('pending' 'reviewing' 'shortlisted' 'accepted' 'rejected' 'withdrawn') list=1 again=1 ;;
    'tryouts list:--not-status' | 'tryouts set-status:--not-status' | 'tryouts convert:--not-status' | 'tryouts stats:--not-status') long=--not-status slot=words choices=('pending' 'reviewing' 'shortlisted' 'accepted' 'rejected' 'withdrawn') list=1 again=1 ;;
    'tryouts list:--game' | 'tryouts set-status:--game' | 'tryouts convert:--game' | 'tryouts stats:--game') long=--game slot=free again=1 ;;
    'tryouts list:--form' | 'tryouts set-status:--form' | 'tryouts convert:--form' | 'tryouts stats:--form') long=--form slot=free again=1 ;;
    'tryouts list:--since' | 'tryouts set-status:--since' | 'tryouts convert:--since' | 'tryouts stats:--since' | 'documents list:--since' | 'documents update:--since' | 'documents delete:--since' | 'documents download:--since') long=--since slot=free ;;
    'tryouts list:--until' | 'tryouts set-status:--until' | 'tryouts convert:--until' | 'tryouts stats:--until') long=--until slot=free ;;
    'tryouts list:--older-than' | 'tryouts set-status:--older-than' | 'tryouts convert:--older-than' | 'tryouts stats:--older-than' | 'runs prune:--older-than') long=--older-than slot=free ;;
    'tryouts list:--updated-since' | 'tryouts set-status:--updated-since' | 'tryouts convert:--updated-since' | 'tryouts stats:--updated-since') long=--updated-since slot=free ;;
    'tryouts list:--converted' | 'tryouts set-status:--converted' | 'tryouts convert:--converted' | 'tryouts stats:--converted') long=--converted slot=switch ;;
    'tryouts list:--unconverted' | 'tryouts set-status:--unconverted' | 'tryouts convert:--unconverted' | 'tryouts stats:--unconverted') long=--unconverted slot=switch ;;
    'tryouts list:--with-notes' | 'tryouts set-status:--with-notes' | 'tryouts convert:--with-notes' | 'tryouts stats:--with-notes') long=--with-notes slot=switch ;;
    'tryouts list:--without-notes' | 'tryouts set-status:--without-notes' | 'tryouts convert:--without-notes' | 'tryouts stats:--without-notes') long=--without-notes slot=switch ;;
    'tryouts list:--where' | 'tryouts set-status:--where' | 'tryouts convert:--where' | 'tryouts stats:--where' | 'teams list:--where' | 'teams update:--where' | 'players list:--where' | 'players update:--where' | 'players delete:--where' | 'documents list:--where' | 'documents update:--where' | 'documents delete:--where' | 'documents download:--where') long=--where slot=fields ends='=' again=1 ;;
    'tryouts list:--search' | 'tryouts set-status:--search' | 'tryouts convert:--search' | 'tryouts stats:--search' | 'teams list:--search' | 'teams update:--search' | 'players list:--search' | 'players update:--search' | 'players delete:--search' | 'documents list:--search' | 'documents update:--search' | 'documents delete:--search' | 'documents download:--search') long=--search slot=free ;;
    'tryouts list:--sort' | 'tryouts set-status:--sort' | 'tryouts convert:--sort' | 'teams list:--sort' | 'teams update:--sort' | 'players list:--sort' | 'players update:--sort' | 'players delete:--sort' | 'documents list:--sort' | 'documents update:--sort' | 'documents delete:--sort' | 'documents download:--sort') long=--sort slot=fields ;;
    'tryouts list:--limit' | 'tryouts list:-L' | 'tryouts set-status:--limit' | 'tryouts set-status:-L' | 'tryouts convert:--limit' | 'tryouts convert:-L' | 'teams list:--limit' | 'teams list:-L' | 'teams update:--limit' | 'teams update:-L' | 'players list:--limit' | 'players list:-L' | 'players update:--limit' | 'players update:-L' | 'players delete:--limit' | 'players delete:-L' | 'documents list:--limit' | 'documents list:-L' | 'documents update:--limit' | 'documents update:-L' | 'documents delete:--limit' | 'documents delete:-L' | 'documents download:--limit' | 'documents download:-L') long=--limit slot=free ;;
    'tryouts update:--status') long=--status slot=words choices=('pending' 'reviewing' 'shortlisted' 'accepted' 'rejected' 'withdrawn') ;;
    'tryouts update:--note' | 'tryouts set-status:--note') long=--note slot=free ;;
    'tryouts update:--note-file' | 'tryouts set-status:--note-file') long=--note-file slot=file ;;
    'tryouts update:--append-note' | 'tryouts set-status:--append-note') long=--append-note slot=free ;;
    'tryouts update:--clear-note' | 'tryouts set-status:--clear-note') long=--clear-note slot=switch ;;
    'tryouts update:--ids' | 'tryouts set-status:--ids' | 'tryouts convert:--ids' | 'teams update:--ids' | 'players update:--ids' | 'players delete:--ids' | 'documents update:--ids' | 'documents delete:--ids' | 'documents download:--ids') long=--ids slot=file ;;
    'tryouts update:--csv' | 'tryouts set-status:--csv' | 'tryouts convert:--csv' | 'teams update:--csv' | 'players update:--csv' | 'players delete:--csv' | 'documents update:--csv' | 'documents delete:--csv') long=--csv slot=file ;;
    'tryouts update:--map' | 'tryouts set-status:--map' | 'tryouts convert:--map' | 'teams update:--map' | 'players update:--map' | 'players delete:--map' | 'documents update:--map' | 'documents delete:--map') long=--map slot=free again=1 ;;
    'tryouts update:--ignore-columns' | 'tryouts set-status:--ignore-columns' | 'tryouts convert:--ignore-columns' | 'teams update:--ignore-columns' | 'players update:--ignore-columns' | 'players delete:--ignore-columns' | 'documents update:--ignore-columns' | 'documents delete:--ignore-columns') long=--ignore-columns slot=switch ;;
    'tryouts update:--if-status' | 'tryouts set-status:--if-status' | 'tryouts convert:--if-status') long=--if-status slot=words choices=('pending' 'reviewing' 'shortlisted' 'accepted' 'rejected' 'withdrawn') list=1 again=1 ;;
    'tryouts update:--if' | 'tryouts set-status:--if' | 'tryouts convert:--if' | 'teams update:--if' | 'players update:--if' | 'players delete:--if' | 'documents update:--if' | 'documents delete:--if') long=--if slot=fields ends='=' again=1 ;;
    'tryouts update:--expect' | 'tryouts set-status:--expect' | 'tryouts convert:--expect' | 'teams update:--expect' | 'players update:--expect' | 'players delete:--expect' | 'documents update:--expect' | 'documents delete:--expect' | 'documents upload:--expect' | 'runs resume:--expect' | 'runs retry:--expect' | 'runs undo:--expect') long=--expect slot=free ;;
    'tryouts update:--max-changes' | 'tryouts set-status:--max-changes' | 'tryouts convert:--max-changes' | 'teams update:--max-changes' | 'players update:--max-changes' | 'players delete:--max-changes' | 'documents update:--max-changes' | 'documents delete:--max-changes' | 'documents upload:--max-changes' | 'runs resume:--max-changes' | 'runs retry:--max-changes' | 'runs undo:--max-changes') long=--max-changes slot=free ;;
    'tryouts update:--fail-fast' | 'tryouts set-status:--fail-fast' | 'tryouts convert:--fail-fast' | 'teams update:--fail-fast' | 'players update:--fail-fast' | 'players delete:--fail-fast' | 'documents update:--fail-fast' | 'documents delete:--fail-fast' | 'documents upload:--fail-fast' | 'runs resume:--fail-fast' | 'runs retry:--fail-fast' | 'runs undo:--fail-fast') long=--fail-fast slot=switch ;;
    'tryouts update:--max-errors' | 'tryouts set-status:--max-errors' | 'tryouts convert:--max-errors' | 'teams update:--max-errors' | 'players update:--max-errors' | 'players delete:--max-errors' | 'documents update:--max-errors' | 'documents delete:--max-errors' | 'documents upload:--max-errors' | 'runs resume:--max-errors' | 'runs retry:--max-errors' | 'runs undo:--max-errors') long=--max-errors slot=free ;;
    'tryouts update:--concurrency' | 'tryouts set-status:--concurrency' | 'tryouts convert:--concurrency' | 'teams update:--concurrency' | 'players update:--concurrency' | 'players delete:--concurrency' | 'documents update:--concurrency' | 'documents delete:--concurrency' | 'documents upload:--concurrency' | 'documents download:--concurrency' | 'uploads finish:--concurrency' | 'runs resume:--concurrency' | 'runs retry:--concurrency' | 'runs undo:--concurrency') long=--concurrency slot=free ;;
    'tryouts update:--rate' | 'tryouts set-status:--rate' | 'tryouts convert:--rate' | 'teams update:--rate' | 'players update:--rate' | 'players delete:--rate' | 'documents update:--rate' | 'documents delete:--rate' | 'documents upload:--rate' | 'documents download:--rate' | 'runs resume:--rate' | 'runs retry:--rate' | 'runs undo:--rate') long=--rate slot=free ;;
    'tryouts update:--restart' | 'tryouts set-status:--restart' | 'tryouts convert:--restart' | 'teams create:--restart' | 'teams update:--restart' | 'players create:--restart' | 'players update:--restart' | 'players delete:--restart' | 'documents create:--restart' | 'documents update:--restart' | 'documents delete:--restart' | 'documents upload:--restart' | 'runs undo:--restart') long=--restart slot=switch ;;
    'tryouts update:--wait-lock' | 'tryouts set-status:--wait-lock' | 'tryouts convert:--wait-lock' | 'teams update:--wait-lock' | 'players update:--wait-lock' | 'players delete:--wait-lock' | 'documents update:--wait-lock' | 'documents delete:--wait-lock' | 'documents upload:--wait-lock' | 'uploads finish:--wait-lock' | 'runs resume:--wait-lock' | 'runs retry:--wait-lock' | 'runs undo:--wait-lock') long=--wait-lock slot=free ;;
    'tryouts update:--results' | 'tryouts set-status:--results' | 'tryouts convert:--results' | 'teams update:--results' | 'players update:--results' | 'players delete:--results' | 'documents update:--results' | 'documents delete:--results' | 'documents upload:--results' | 'runs undo:--results') long=--results slot=file ;;
    'tryouts update:--exit-code' | 'tryouts set-status:--exit-code' | 'tryouts convert:--exit-code' | 'teams update:--exit-code' | 'players update:--exit-code' | 'players delete:--exit-code' | 'documents update:--exit-code' | 'documents delete:--exit-code' | 'documents upload:--exit-code') long=--exit-code slot=switch ;;
    'tryouts set-status:--to') long=--to slot=words choices=('pending' 'reviewing' 'shortlisted' 'accepted' 'rejected' 'withdrawn') ;;
    'tryouts set-status:--all' | 'tryouts convert:--all' | 'teams update:--all' | 'players update:--all' | 'players delete:--all' | 'documents update:--all' | 'documents delete:--all' | 'documents download:--all' | 'uploads finish:--all' | 'runs list:--all' | 'auth status:--all') long=--all slot=switch ;;
    'tryouts set-status:--allow-partial' | 'tryouts convert:--allow-partial' | 'teams update:--allow-partial' | 'players update:--allow-partial' | 'players delete:--allow-partial' | 'documents update:--allow-partial' | 'documents delete:--allow-partial' | 'documents download:--allow-partial') long=--allow-partial slot=switch ;;
    'tryouts convert:--accept') long=--accept slot=switch ;;
    'tryouts convert:--set' | 'tryouts convert:-F' | 'teams create:--set' | 'teams create:-F' | 'teams update:--set' | 'teams update:-F' | 'players create:--set' | 'players create:-F' | 'players update:--set' | 'players update:-F' | 'documents update:--set' | 'documents update:-F' | 'api:--set' | 'api:-F') long=--set slot=fields ends='=' again=1 ;;
    'tryouts convert:--set-string' | 'tryouts convert:-f' | 'teams create:--set-string' | 'teams create:-f' | 'teams update:--set-string' | 'teams update:-f' | 'players create:--set-string' | 'players create:-f' | 'players update:--set-string' | 'players update:-f' | 'documents update:--set-string' | 'documents update:-f' | 'api:--set-string' | 'api:-f') long=--set-string slot=fields ends='=' again=1 ;;
    'tryouts convert:--input' | 'teams create:--input' | 'teams update:--input' | 'players create:--input' | 'players update:--input' | 'documents update:--input' | 'api:--input') long=--input slot=file ;;
    'teams create:--name' | 'teams update:--name' | 'players create:--name' | 'players update:--name' | 'documents create:--name' | 'documents update:--name' | 'documents upload:--name') long=--name slot=free ;;
    'teams update:--route' | 'teams delete:--route' | 'players update:--route' | 'players delete:--route' | 'documents update:--route' | 'documents delete:--route') long=--route slot=free ;;
    'teams delete:--confirm') long=--confirm slot=free ;;
    'players list:--team' | 'players update:--team' | 'players delete:--team') long=--team slot=words ask='id:teams' ;;
    'documents list:--tag' | 'documents create:--tag' | 'documents update:--tag' | 'documents delete:--tag' | 'documents upload:--tag' | 'documents download:--tag') long=--tag slot=free again=1 ;;
    'documents list:--type' | 'documents update:--type' | 'documents delete:--type' | 'documents download:--type') long=--type slot=free ;;
    'documents create:--file-key') long=--file-key slot=free ;;
    'documents create:--file-ref') long=--file-ref slot=free ;;
    'documents create:--content-type' | 'documents upload:--content-type' | 'uploads create:--content-type' | 'uploads put:--content-type') long=--content-type slot=words choices=('application/pdf' 'application/msword' 'application/vnd.openxmlformats-officedocument.wordprocessingml.document' 'application/vnd.ms-excel' 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet' 'text/plain' 'image/jpeg' 'image/png' 'image/webp' 'image/gif') ;;
    'documents create:--size-bytes' | 'uploads create:--size-bytes') long=--size-bytes slot=free ;;
    'documents update:--add-tag') long=--add-tag slot=free again=1 ;;
    'documents update:--remove-tag') long=--remove-tag slot=free again=1 ;;
    'documents upload:--recursive' | 'documents upload:-r') long=--recursive slot=switch ;;
    'documents upload:--if-exists') long=--if-exists slot=words choices=('duplicate' 'skip' 'error') ;;
    'documents upload:--verify') long=--verify slot=switch ;;
    'documents download:--file' | 'documents download:-O' | 'documents preview:--file' | 'documents preview:-O') long=--file slot=file ;;
    'documents download:--dir' | 'documents download:-D' | 'documents preview:--dir' | 'documents preview:-D') long=--dir slot=directory ;;
    'documents download:--skip-existing' | 'documents preview:--skip-existing') long=--skip-existing slot=switch ;;
    'documents download:--overwrite' | 'documents preview:--overwrite') long=--overwrite slot=switch ;;
    'documents download:--url' | 'documents preview:--url') long=--url slot=switch ;;
    'runs show:--failed') long=--failed slot=switch ;;
    'runs show:--undoable') long=--undoable slot=switch ;;
    'runs undo:--only') long=--only slot=free list=1 again=1 ;;
    'auth login:--key-stdin') long=--key-stdin slot=switch ;;
    'auth login:--key-file') long=--key-file slot=file ;;
    'auth login:--no-check') long=--no-check slot=switch ;;
    'auth status:--offline') long=--offline slot=switch ;;
    'config list:--show-origin') long=--show-origin slot=switch ;;
    'api:--method' | 'api:-X') long=--method slot=free ;;
    'api:--param') long=--param slot=free again=1 ;;
    'api:--include' | 'api:-i') long=--include slot=switch ;;
    'api:--paginate') long=--paginate slot=switch ;;
    'sandbox start:--port') long=--port slot=free ;;
    'sandbox start:--data') long=--data slot=directory ;;
    'sandbox start:--seed-size') long=--seed-size slot=words choices=('small' 'large') ;;
    'sandbox start:--fault') long=--fault slot=free again=1 ;;
    'sandbox start:--strict-events') long=--strict-events slot=switch ;;
    'completion:--install') long=--install slot=switch ;;
    'completion:--uninstall') long=--uninstall slot=switch ;;
    *) 
    case "$2" in
      '--profile' | '-p') long=--profile slot=words ask='profile' ;;
      '--org') long=--org slot=free ;;
      '--base-url') long=--base-url slot=free ;;
      '--output' | '-o') long=--output slot=words choices=('table' 'json' 'ndjson' 'csv' 'ids') ;;
      '--json') long=--json slot=switch ;;
      '--fields') long=--fields slot=fields list=1 ;;
      '--out') long=--out slot=file ;;
      '--bom') long=--bom slot=switch ;;
      '--delimiter') long=--delimiter slot=free ;;
      '--csv-raw') long=--csv-raw slot=switch ;;
      '--no-header') long=--no-header slot=switch ;;
      '--time') long=--time slot=words choices=('iso' 'local' 'relative') ;;
      '--dry-run' | '-n') long=--dry-run slot=switch ;;
      '--yes' | '-y') long=--yes slot=switch ;;
      '--no-input') long=--no-input slot=switch ;;
      '--quiet' | '-q') long=--quiet slot=switch ;;
      '--verbose' | '-v') long=--verbose slot=switch ;;
      '--debug') long=--debug slot=switch ;;
      '--strict') long=--strict slot=switch ;;
      '--no-color') long=--no-color slot=switch ;;
      '--no-pager') long=--no-pager slot=switch ;;
      '--timeout') long=--timeout slot=free ;;
      '--retries') long=--retries slot=free ;;
      '--max-wait') long=--max-wait slot=free ;;
      '--max-time') long=--max-time slot=free ;;
      '--help' | '-h') long=--help slot=switch ;;
    esac
    ;;
  esac
}

__rosterctl_arg() { # command, number: what that word may be
  slot= choices=() list= ends= ask= again= long=
  case "$1:$2" in
    'teams delete:0' | 'teams get:'* | 'teams update:'*) slot=words ask='id:teams' ;;
    'documents preview:0' | 'documents get:'* | 'documents update:'* | 'documents delete:'* | 'documents download:'*) slot=words ask='id:documents' ;;
    'uploads finish:0' | 'uploads forget:0' | 'uploads put:0' | 'runs show:0' | 'runs resume:0' | 'runs retry:0' | 'runs undo:0' | 'runs prune:0' | 'profile rename:1' | 'api:0') slot=free ;;
    'uploads put:1' | 'documents upload:'*) slot=file ;;
    'profile show:0' | 'profile use:0' | 'profile rename:0' | 'profile remove:0') slot=words ask='profile' ;;
    'config get:0' | 'config set:0' | 'config unset:0') slot=words choices=('output' 'time' 'timeout' 'retries' 'maxWait' 'concurrency' 'rate' 'pager' 'undo.keep' 'completion.cache' 'key.command' 'endpoints.teams.update' 'endpoints.teams.update.semantics' 'endpoints.teams.update.org' 'endpoints.teams.delete' 'endpoints.teams.delete.org' 'endpoints.players.update' 'endpoints.players.update.semantics' 'endpoints.players.update.org' 'endpoints.players.delete' 'endpoints.players.delete.org' 'endpoints.documents.update' 'endpoints.documents.update.semantics' 'endpoints.documents.update.org' 'endpoints.documents.delete' 'endpoints.documents.delete.org' 'lists.teams.path' 'lists.teams.query' 'columns.teams' 'readOnly.teams' 'lists.players.path' 'lists.players.query' 'columns.players' 'readOnly.players' 'lists.documents.path' 'lists.documents.query' 'columns.documents' 'readOnly.documents' 'lists.tryouts.path' 'lists.tryouts.query' 'columns.tryouts' 'readOnly.tryouts' 'paging.mode' 'paging.params.page' 'paging.params.limit' 'paging.params.offset' 'paging.params.cursor' 'paging.params.after' 'paging.params.pageToken' 'paging.size' 'filters.tryouts.status' 'download.urlPath' 'upload.maxBytes') ;;
    'config set:1') slot=words ask='configValue' ;;
    'completion:0') slot=words choices=('bash' 'zsh' 'fish' 'powershell') ;;
    'tryouts get:'* | 'tryouts update:'* | 'tryouts set-status:'* | 'tryouts convert:'*) slot=words ask='id:tryouts' ;;
    'players get:'* | 'players update:'* | 'players delete:'*) slot=words ask='id:players' ;;
    'help:'*) slot=topic ;;
  esac
}

__rosterctl_fields() { # command: the fields of what it prints
  choices=() ask=''
  case "$1" in
    'tryouts list' | 'tryouts get' | 'tryouts update' | 'tryouts set-status' | 'tryouts convert') choices=('id' 'organizationId' 'status' 'name' 'email' 'discordUserId' 'discordUsername' 'formResponses' 'internalNotes' 'convertedPlayerId' 'convertedPlayer' 'gamerTags' 'submittedAt' 'createdAt' 'updatedAt') ask='field:tryouts' ;;
    'tryouts stats') choices=() ask='field:tryouts' ;;
    'teams list' | 'teams get' | 'teams create' | 'teams update') choices=('id') ask='field:teams' ;;
    'teams delete') choices=() ask='field:teams' ;;
    'players list' | 'players get' | 'players create' | 'players update') choices=('id') ask='field:players' ;;
    'players delete') choices=() ask='field:players' ;;
    'documents list' | 'documents get' | 'documents create' | 'documents update' | 'documents upload') choices=('id') ask='field:documents' ;;
    'documents delete' | 'documents download' | 'documents preview') choices=() ask='field:documents' ;;
    'uploads list') choices=('id' 'path' 'state' 'fileKey' 'startedAt') ask='' ;;
    'uploads finish') choices=('id') ask='' ;;
    'uploads forget' | 'uploads create' | 'uploads put' | 'runs show' | 'runs resume' | 'runs retry' | 'runs undo' | 'runs prune' | 'auth login' | 'auth status' | 'auth logout' | 'profile show' | 'profile use' | 'profile rename' | 'profile remove' | 'config get' | 'config set' | 'config unset' | 'config path' | 'api' | 'sandbox start' | 'sandbox reset' | 'doctor' | 'completion' | 'help') choices=() ask='' ;;
    'runs list') choices=('run' 'action' 'state' 'summary.total' 'summary.changed' 'summary.failed' 'startedAt' 'profile') ask='' ;;
    'profile list') choices=('name' 'organization' 'baseUrl' 'active') ask='' ;;
    'config list') choices=('key' 'value' 'origin') ask='' ;;
    'sandbox events') choices=('kind' 'applicationId' 'at') ask='' ;;
    'commands') choices=('command' 'summary' 'basis') ask='' ;;
  esac
}

__rosterctl_topics() { # what `help` explains
  choices=('environment' 'exit-codes' 'output' 'bulk' 'undocumented' 'sandbox' 'security')
}

_rosterctl() { # command, the text that readline will replace
  local IFS=$' \t\n' tail=${2-} raw= cur= head= prefix=
  local noun= command= first= wanted= ended= given=' ' own=' ' count=0 answer=
  local slot= list= ends= ask= again= long=
  local -a typed choices aliases found notes lines
  typed=() found=() notes=() lines=()
  COMPREPLY=()
  __rosterctl_split
  __rosterctl_walk
  __rosterctl_offer
  __rosterctl_reply
}

# The line up to the cursor; COMP_POINT counts bytes.
__rosterctl_lead() {
  local LC_ALL=C
  answer=${COMP_LINE:0:COMP_POINT}
}

# COMP_WORDS is cut at = and : as well; what stands together on the line is one word here.
__rosterctl_split() {
  local i rest word
  __rosterctl_lead
  local lead=$answer
  for ((i = 0; i <= COMP_CWORD; i++)); do
    rest=${lead#"${lead%%[![:space:]]*}"}
    word=${COMP_WORDS[i]}
    ((i < COMP_CWORD)) || word=$rest
    if ((i > 0)) && [[ $rest == "$lead" ]]; then
      raw=$raw$word
    else
      ((i == 0)) || typed[${#typed[@]}]=$raw
      raw=$word
    fi
    lead=${rest#"$word"}
  done
  head=${raw%"$tail"}
  __rosterctl_unquote "$raw"
  cur=$answer
}

__rosterctl_unquote() {
  answer=${1//[\\\"\']/}
}

# Reads the words before the cursor: noun, command, flags given, a flag that waits for its value.
__rosterctl_walk() {
  local i word
  for ((i = 1; i < ${#typed[@]}; i++)); do
    __rosterctl_unquote "${typed[i]}"
    word=$answer
    if [[ -n $wanted ]]; then
      wanted=
    elif [[ -n $ended || $word != -?* ]]; then
      __rosterctl_place "$word"
    elif [[ $word == -- ]]; then
      ended=1
    elif [[ $word == --* ]]; then
      __rosterctl_flag "$command" "${word%%=*}"
      [[ -n $again ]] || given="$given$long "
      [[ $slot == '' || $slot == switch || $word == *=* ]] || wanted=$word
    else
      __rosterctl_letters "${word#-}"
    fi
  done
}

__rosterctl_place() {
  if [[ -z $noun ]]; then
    __rosterctl_noun "$1"
  elif [[ -z $command ]]; then
    __rosterctl_verb "$noun" "$1"
  else
    ((count > 0)) || first=$1
    count=$((count + 1))
  fi
}

# -qy are two switches, -pNAME is one flag with its value.
__rosterctl_letters() {
  local letters=$1
  while [[ -n $letters ]]; do
    __rosterctl_flag "$command" "-${letters:0:1}"
    letters=${letters:1}
    [[ -n $again ]] || given="$given$long "
    [[ $slot == '' || $slot == switch ]] && continue
    [[ -n $letters ]] || wanted=$long
    return 0
  done
}

__rosterctl_offer() {
  slot= choices=() list= ends= ask= again= long=
  if [[ -n $wanted ]]; then
    __rosterctl_flag "$command" "$wanted"
  elif [[ -z $ended && $cur == --*=* ]]; then
    prefix=${cur%%=*}=
    __rosterctl_flag "$command" "${cur%%=*}"
    [[ $long != --json ]] || slot=fields list=1
  elif [[ -z $ended && $cur == -* ]]; then
    __rosterctl_offer_flags
    return 0
  elif [[ -z $noun ]]; then
    slot=nouns
  elif [[ -z $command ]]; then
    slot=verbs
  else
    __rosterctl_arg "$command" "$count"
  fi
  [[ -z $list || ${cur#"$prefix"} != *,* ]] || prefix=${cur%,*},
  __rosterctl_offer_slot
}

__rosterctl_offer_slot() {
  case $slot in
    nouns) __rosterctl_words '' && __rosterctl_offer_names ;;
    verbs) __rosterctl_words "$noun" && __rosterctl_offer_names ;;
    words) __rosterctl_offer_choices && __rosterctl_ask ;;
    fields) __rosterctl_fields "$command" && __rosterctl_offer_choices && __rosterctl_ask ;;
    topic) __rosterctl_offer_topic ;;
    file | directory) __rosterctl_offer_paths ;;
  esac
}

__rosterctl_add() { # word, note
  [[ $prefix$1 == "$cur"* ]] || return 0
  [[ -z $list || ,${prefix#*=} != *",$1,"* ]] || return 0
  found[${#found[@]}]=$1
  notes[${#notes[@]}]=${2-}
}

__rosterctl_offer_choices() {
  local word
  for word in ${choices[@]+"${choices[@]}"}; do
    __rosterctl_add "$word"
  done
}

# What a thing is also called is offered only where its own name does not fit.
__rosterctl_offer_names() {
  __rosterctl_offer_choices
  ((${#found[@]} == 0)) || return 0
  choices=(${aliases[@]+"${aliases[@]}"})
  __rosterctl_offer_choices
}

__rosterctl_offer_topic() {
  if ((count == 0)); then
    __rosterctl_topics
    __rosterctl_offer_choices
    __rosterctl_words ''
    __rosterctl_offer_names
  elif ((count == 1)); then
    noun=
    __rosterctl_noun "$first"
    __rosterctl_words "$noun"
    __rosterctl_offer_names
  fi
}

__rosterctl_offer_flags() {
  local word
  __rosterctl_flags "$command"
  for word in ${choices[@]+"${choices[@]}"}; do
    [[ $given == *" $word "* ]] || __rosterctl_add "$word"
  done
  __rosterctl_global_flags
  for word in "${choices[@]}"; do
    [[ $given$own == *" $word "* ]] || __rosterctl_add "$word"
  done
}

# Ids, profiles and field names, from what this machine remembers.
__rosterctl_ask() {
  [[ -n $ask ]] || return 0
  local program=rosterctl line i
  local -a before
  before=()
  for ((i = 1; i < ${#typed[@]}; i++)); do
    __rosterctl_unquote "${typed[i]}"
    before[${#before[@]}]=$answer
  done
  __rosterctl_unquote "${COMP_WORDS[0]}"
  case $answer in \~/*) answer=$HOME/${answer#\~/} ;; esac
  [[ $answer != */* || ! -x $answer ]] || program=$answer
  __rosterctl_lines "$(command "$program" __complete "$ask" -- ${before[@]+"${before[@]}"} 2>/dev/null </dev/null)"
  for line in ${lines[@]+"${lines[@]}"}; do
    __rosterctl_add "${line%%$'\t'*}" "${line#*$'\t'}"
  done
}

__rosterctl_lines() { # text: its lines, taken as they are
  local IFS=$'\n' globbing=1
  case $- in *f*) globbing= ;; esac
  set -f
  lines=($1)
  [[ -z $globbing ]] || set +f
}

# Readline completes paths better than a script; only where = does not part words we do it here.
__rosterctl_offer_paths() {
  local line
  if [[ -z $prefix || $tail != "$prefix"* ]]; then
    if [[ $slot == file ]]; then
      slot=readline
      compopt +o nospace 2>/dev/null
    else
      compopt -o dirnames +o default +o nospace 2>/dev/null && slot=readline
    fi
    return 0
  fi
  if [[ $slot == file ]]; then
    __rosterctl_lines "$(compgen -f -- "${cur#"$prefix"}")"
  else
    __rosterctl_lines "$(compgen -d -- "${cur#"$prefix"}")"
  fi
  for line in ${lines[@]+"${lines[@]}"}; do
    [[ ! -d $line ]] || line=$line/
    __rosterctl_add "$line"
  done
}

# Hands over what was found, quoted for the shell; only what no cursor stands in gets its note.
__rosterctl_reply() {
  [[ $slot == readline ]] || compopt +o default 2>/dev/null
  local i word open= described= start
  case $head in *\") open=\" ;; *\') open=\' ;; esac
  [[ -z $open || -n $ends ]] || compopt +o nospace 2>/dev/null
  case ${COMP_TYPE-} in 9 | 33 | 63 | 64) ((${#found[@]} < 2)) || described=1 ;; esac
  __rosterctl_unquote "$head"
  start=$answer
  for ((i = 0; i < ${#found[@]}; i++)); do
    word=$prefix${found[i]}
    [[ $word == "$start"* ]] || continue
    __rosterctl_quote "${word#"$start"}" || continue
    # Behind an open quote readline itself closes it and adds the space.
    word=$answer$ends
    [[ -n $open || -n $ends || $slot$answer == file*/ || $slot == directory ]] || word="$answer "
    [[ -z $described || -z ${notes[i]} ]] || word="$answer  (${notes[i]})"
    COMPREPLY[${#COMPREPLY[@]}]=$word
  done
}

# As it has to stand on the line, also behind a quote that is still open.
__rosterctl_quote() {
  answer=$1
  case $open in
    \') __rosterctl_escape "$1" \' "'\\'" ;;
    \")
      [[ $1 != *'!'* ]] || return 1
      __rosterctl_escape "$1" '\"$`' \\
      ;;
    *) [[ $1 != *[!A-Za-z0-9_./:=@%+,-]* ]] || printf -v answer %q "$1" ;;
  esac
}

__rosterctl_escape() { # text, characters, what to put before each of them
  local rest=$1 letter
  answer=
  while [[ -n $rest ]]; do
    letter=${rest:0:1}
    rest=${rest:1}
    case $2 in *"$letter"*) letter=$3$letter ;; esac
    answer=$answer$letter
  done
}

complete -o default -o nospace -F _rosterctl rosterctl
