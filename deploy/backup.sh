#!/bin/sh
# Keeps a folder at most five seconds behind the site until it is stopped: deploy/backup.sh FOLDER
#
# Each day begins a copy of its own there, named after its time; seven are kept (BACKUPS_KEPT):
#   base/   the PostgreSQL server's files with both databases, as one moment saw them
#   wal/    whatever was written since, as it is written: both databases stay at one moment
#   files/  COLLECTOR_HOME and RELEASES, looked at every five seconds
#   as-of   when all of it was last known to be there
# On SQLite files (make run) it is deploy/backup.py that does so. deploy/restore.sh puts either back.
set -eu
folder=${1:?Name the folder for the backups, on another disk if there is one.}
home=${COLLECTOR_HOME:-var} releases=${RELEASES:-releases} kept=${BACKUPS_KEPT:-7}
seconds=5 day=86400
umask 077
case $kept in
  '' | 0* | *[!0-9]*)
    echo "BACKUPS_KEPT=$kept: write for how many days copies are kept, 1 or more." >&2
    exit 1
    ;;
esac

case "${DATABASE_URL:-}" in
  postgres*) ;;
  *)
    [ -x .venv/bin/python ] && exec .venv/bin/python -m deploy.backup "$folder"
    exec python3 -m deploy.backup "$folder"
    ;;
esac
mkdir -p "$folder"

receiver='' copy=''
say() { echo "backup: $*" >&2; }
trap 'for one in $receiver; do kill "$one" 2>/dev/null || :; done' EXIT
trap 'exit 0' INT TERM

# The server keeps what a copy has not received yet: until a slot of the copy's name says that it has.
slot_of() { echo "backup_$(basename "$1" | tr -dc 0-9)"; }

# Writes what the server writes into a copy's wal/, from where that ends; ends when the connection does.
follow() {
  pg_receivewal --dbname "$DATABASE_URL" --no-password --no-loop --synchronous --slot "$(slot_of "$1")" \
    --directory "$1/wal" &
  receiver=$!
}

# Nobody receives for the copies before any more.
drop_other_slots() {
  psql --dbname "$DATABASE_URL" --no-password --quiet --output /dev/null --command "
    SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots
    WHERE starts_with(slot_name, 'backup_') AND NOT active AND slot_name <> '$(slot_of "$1")'" || :
}

save_files() {
  for name in home releases; do
    eval "from=\$$name"
    [ -d "$from" ] || continue
    mkdir -p "$1/files/$name"
    # A file that goes away meanwhile is no failure; a full disk is, and shows in as-of.
    cp -a -u "$from/." "$1/files/$name/" 2>"$folder/.said" \
      || ! grep -v 'No such file' "$folder/.said" >&2 || return 1
  done
}

# Makes a new copy; the one before goes on being written until this one is whole.
begin() {
  before=$receiver next=$folder/$(date -u +%Y-%m-%dT%H-%M-%S)
  mkdir -p "$next/wal"
  if ! pg_receivewal --dbname "$DATABASE_URL" --no-password --slot "$(slot_of "$next")" --create-slot; then
    give_up
    return 1
  fi
  follow "$next"
  tries=0
  until ls "$next/wal" | grep -q partial; do
    tries=$((tries + 1))
    if [ "$tries" -gt 30 ] || ! kill -0 "$receiver" 2>/dev/null; then give_up; return 1; fi
    sleep 1
  done
  if ! pg_basebackup --dbname "$DATABASE_URL" --no-password --pgdata "$next/base" --format tar --gzip \
    --wal-method none --checkpoint fast 2>"$folder/.said" || ! save_files "$next"; then
    cat "$folder/.said" >&2
    give_up
    return 1
  fi
  sleep 1
  kill -0 "$receiver" 2>/dev/null || { give_up; return 1; }
  touch "$next/complete"
  [ -z "$before" ] || kill "$before" 2>/dev/null || :
  copy=$next
  say "began $copy"
  sleep 1
  drop_other_slots "$copy"
  find "$folder" -mindepth 1 -maxdepth 1 -type d -name '20*' | sort -r | while read -r one; do
    if [ -e "$one/complete" ] && [ "$kept" -gt 0 ]; then kept=$((kept - 1)); else rm -rf "$one"; fi
  done
}

give_up() {
  [ "$receiver" = "$before" ] || kill "$receiver" 2>/dev/null || :
  receiver=$before
  rm -rf "$next"
  say "a new copy could not be made; it is tried again"
}

age() { echo $(($(date +%s) - $(stat -c %Y "$1/complete"))); }

while :; do
  until pg_isready --quiet --dbname "$DATABASE_URL"; do sleep 0.5; done
  copy=$(find "$folder" -mindepth 2 -maxdepth 2 -name complete | sort | tail -n 1)
  copy=${copy%/complete}
  if [ -z "$copy" ] || [ -e "$copy/closed" ]; then
    begin || { sleep $seconds; continue; }
  else
    drop_other_slots "$copy"
    follow "$copy"
    say "goes on with $copy"
  fi
  began=$(date +%s)
  while kill -0 "$receiver" 2>/dev/null; do
    if save_files "$copy" && kill -0 "$receiver" 2>/dev/null; then date -u >"$copy/as-of"; fi
    # Each second, whether the server is still there: what nobody receives could be lost.
    waited=0
    while [ $waited -lt $seconds ] && kill -0 "$receiver" 2>/dev/null; do
      sleep 1 &
      wait $! || :
      waited=$((waited + 1))
    done
    [ "$(age "$copy")" -lt $day ] || begin || :
  done
  # The server has restarted; or it no longer has what this copy lacks, and there must be a new one.
  if [ $(($(date +%s) - began)) -le 2 ] && pg_isready --quiet --dbname "$DATABASE_URL"; then
    touch "$copy/closed"
  fi
  receiver=''
  sleep 0.5
done
