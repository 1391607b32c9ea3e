#!/bin/sh
# Runs docker compose on this folder's compose.yaml: deploy/containers.sh logs --follow
# COMPOSE names another program that reads such files, such as podman-compose.
set -eu
cd "$(dirname "$0")/.."
settings=deploy/.env
if [ ! -e "$settings" ]; then
  : "${DOMAIN:?Set DOMAIN to the name under which browsers reach this machine, such as lab.example.}"
  umask 077
  password=$(od -An -N24 -tx1 /dev/urandom | tr -d ' \n')
  {
    echo "DOMAIN=$DOMAIN"
    echo "COLLECTOR_URL=${COLLECTOR_URL:-https://$DOMAIN}"
    market=${MARKETPLACE_URL:-https://work.$DOMAIN}
    host=${market#*://}
    echo "MARKETPLACE_URL=$market"
    echo "MARKETPLACE_HOST=${host%%[:/]*}"
    echo "POSTGRES_PASSWORD=$password"
  } >"$settings"
  echo "The addresses and the database's password are kept in $settings."
fi
exec ${COMPOSE:-docker compose} --env-file "$settings" --file deploy/compose.yaml "$@"
