#!/bin/sh
# Makes an authority, and a key with a certificate for controller and broker, in certs/ beside this file: for a trial.
set -eu
umask 077
mkdir -p "${1:=$(dirname "$0")/certs}"
cd "$1"
openssl req -x509 -newkey rsa:2048 -nodes -days 365 -subj /CN=trial -keyout ca.key -out ca.pem 2> /dev/null
for name in secure-controller secure-broker; do
  openssl req -newkey rsa:2048 -nodes -subj "/CN=$name" -keyout "$name.key" -out "$name.csr" 2> /dev/null
  printf 'subjectAltName=DNS:%s,DNS:localhost\n' "$name" > "$name.ext"
  openssl x509 -req -in "$name.csr" -CA ca.pem -CAkey ca.key -CAcreateserial -days 365 -extfile "$name.ext" \
    -out "$name.crt" 2> /dev/null
  cat "$name.key" "$name.crt" > "$name.pem"
  rm "$name.csr" "$name.ext" "$name.crt" "$name.key"
done
# The users of both images have the group of nothing here: a trial's keys are readable for them.
chmod 755 .
chmod 644 ./*.pem
