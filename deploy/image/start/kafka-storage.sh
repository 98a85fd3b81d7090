#!/bin/sh
# `format` for the properties file of a controller alone is kraftctl's, and every other command Kafka's own.
bin=$(dirname "$0")
file='' previous=''
for word in "$@"; do
  case $previous in -c | --config) file=$word ;; esac
  case $word in -c=* | --config=*) file=${word#*=} ;; esac
  previous=$word
done
if [ "$1" = format ] && [ -n "$file" ]; then
  status=0
  sh /opt/kraftctl/start/role.sh "$file" || status=$?
  case $status in
    0) exec /opt/kraftctl/bin/python -I -m kraftctl "$@" ;;
    3) ;;
    *)
      echo "kafka-storage.sh: whether this is a controller is not known, status $status. Next step: see the error above, and build the image again" >&2
      exit "$status"
      ;;
  esac
fi
exec "$bin/kafka-storage-java.sh" "$@"
