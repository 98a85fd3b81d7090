#!/bin/sh
# Whether a start is that of a controller alone: status 0, or 3 for everything else, which is Java's.
# Without FILE, it looks at what variables and the mounted file say. A Python that does not start decides nothing,
# but must not keep brokers from starting: then a role with `broker` in it is looked for here.
status=0
/opt/kraftctl/bin/python -I -m kraftctl.cli.container.role "$@" || status=$?
case $status in 0 | 3) exit "$status" ;; esac

file=${1:-/mnt/shared/config/server.properties}
if [ $# -eq 0 ] && [ -n "${KAFKA_PROCESS_ROLES+set}" ]; then
  roles=$KAFKA_PROCESS_ROLES
elif [ $# -eq 0 ] && [ ! -e "$file" ]; then
  # Kafka's own default.
  roles=broker,controller
else
  roles=$(sed -n 's/^[[:space:]]*process\.roles[[:space:]]*[=:]//p' "$file" | tail -n 1)
fi
case $*,$roles in
  *process.roles*) ;;
  *,*broker*) exit 3 ;;
esac
exit "$status"
