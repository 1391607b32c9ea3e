#!/bin/sh
# Does for Debian's PostgreSQL what the entrypoint of the image "postgres" promises.
set -eu
if [ "$1" != postgres ]; then exec "$@"; fi
if [ "$(id -u)" = 0 ]; then
  mkdir -p "$PGDATA" && chmod 700 "$PGDATA" && chown -R postgres "$PGDATA" /var/run/postgresql
  exec setpriv --reuid postgres --regid postgres --init-groups sh "$0" "$@"
fi
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  printf %s "$POSTGRES_PASSWORD" >/tmp/password
  initdb --username="$POSTGRES_USER" --pwfile=/tmp/password --auth-host=trust --auth-local=trust
  rm /tmp/password
  echo "listen_addresses = '*'" >>"$PGDATA/postgresql.conf"
  echo "host all all all scram-sha-256" >>"$PGDATA/pg_hba.conf"
  pg_ctl --pgdata="$PGDATA" --options="-c listen_addresses=" --wait start
  createdb --username="$POSTGRES_USER" --maintenance-db=postgres "$POSTGRES_DB"
  for file in /docker-entrypoint-initdb.d/*.sql; do
    psql --username="$POSTGRES_USER" --dbname="$POSTGRES_DB" --set=ON_ERROR_STOP=1 --file="$file"
  done
  pg_ctl --pgdata="$PGDATA" --wait stop
fi
exec "$@"
