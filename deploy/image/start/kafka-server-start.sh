#!/bin/sh
# Starts kraftctl for the properties file of a controller alone, and Kafka's own script for every other one.
bin=$(dirname "$0")
status=0
sh /opt/kraftctl/start/role.sh "$@" || status=$?
case $status in
  0) ;;
  3) exec "$bin/kafka-server-start-java.sh" "$@" ;;
  *)
    echo "kafka-server-start.sh: whether this is a controller is not known, status $status. Next step: see the error above, and build the image again" >&2
    exit "$status"
    ;;
esac
if [ "$KAFKA_JMX_EXPORTER_ENABLED" = true ]; then
  # Strimzi's switch for metrics, which it scrapes from this port.
  set -- "$@" --override kraftctl.operate.listeners=http://:9404
fi
exec /opt/kraftctl/bin/python -I -m kraftctl start "$@"
