#!/bin/sh
# Puts the newest whole copy of a backup back: deploy/restore.sh FOLDER
#
# The site must be stopped. On PostgreSQL, PGDATA names the folder of a server's files, which must be
# empty; the server that is started on it reads on to the last thing that was written. What is in
# COLLECTOR_HOME and RELEASES is replaced file by file.
set -eu
folder=${1:?Name the folder of the backups.}
home=${COLLECTOR_HOME:-var} releases=${RELEASES:-releases}

case "${DATABASE_URL:-}" in
  postgres*) ;;
  *)
    [ -x .venv/bin/python ] && exec .venv/bin/python -m deploy.restore "$@"
    exec python3 -m deploy.restore "$@"
    ;;
esac

copy=$(find "$folder" -mindepth 2 -maxdepth 2 -name complete | sort | tail -n 1)
copy=${copy%/complete}
[ -n "$copy" ] || { echo "There is no whole copy in $folder." >&2; exit 1; }
: "${PGDATA:?Name the empty folder for the server files.}"
[ -z "$(ls -A "$PGDATA" 2>/dev/null)" ] || { echo "$PGDATA is not empty." >&2; exit 1; }
mkdir -p "$PGDATA/restored"
chmod 700 "$PGDATA"
tar -xzf "$copy/base/base.tar.gz" -C "$PGDATA"
for file in "$copy"/wal/*; do
  name=${file##*/}
  cp "$file" "$PGDATA/restored/${name%.partial}"
done
{
  echo "restore_command = 'cp restored/%f %p 2>/dev/null'"
  echo "recovery_end_command = 'rm -r restored'"
} >>"$PGDATA/postgresql.auto.conf"
touch "$PGDATA/recovery.signal"
if [ "$(id -u)" = 0 ]; then chown -R "${PGUSER_OF_SYSTEM:-postgres}" "$PGDATA"; fi
for name in home releases; do
  eval "to=\$$name"
  [ ! -d "$copy/files/$name" ] || { mkdir -p "$to" && cp -a "$copy/files/$name/." "$to/"; }
done
# From here on the database writes another history than the copy's.
touch "$copy/closed"
echo "Restored $copy as of $(cat "$copy/as-of" 2>/dev/null || echo its beginning)."
