#!/bin/sh
# Make the secrets of docker-compose.yml, those that are not there yet, in deploy/secrets.
set -eu
cd "$(dirname "$0")"
umask 077
mkdir -p secrets
cd secrets

random() {
  od -An -N 32 -tx1 /dev/urandom | tr -d ' \n'
}

for name in admin_key ledger_secret postgres_password; do
  test -e "$name" || random >"$name"
done
test -e database_url || printf 'postgresql://snapledger:%s@database/snapledger' "$(cat postgres_password)" >database_url
# Containers read them as users of their own; on this host the directory keeps everybody else out.
chmod 0444 admin_key ledger_secret postgres_password database_url
echo "The secrets are in $(pwd). Keep a copy of ledger_secret elsewhere: without it the ledger cannot be verified."
