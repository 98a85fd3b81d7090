#!/bin/sh
# Waits before a stop until the other voters are a majority that has everything, for RESTART_GATE_SECONDS at most.
# Status 3 is of one or two voters: no time is better than now, unless there are more controllers, which may join.
end=$(($(date +%s) + RESTART_GATE_SECONDS))
while :; do
  said=$(kraftctl quorum --bootstrap-controller "$CONTROLLERS" \
    --command-config "$CONFIG_DIRECTORY/client.properties" may-stop -i "$NODE_ID" 2>&1)
  case $? in
    0) exit 0 ;;
    3) case $CONTROLLERS in *,*,*) ;; *) exit 0 ;; esac ;;
  esac
  if [ "$(date +%s)" -ge "$end" ]; then
    # In the log of the container: Kubernetes shows nowhere what a hook prints.
    echo "stopped after $RESTART_GATE_SECONDS s all the same: $said" | tee "${CONTAINER_LOG:-/proc/1/fd/1}" >&2
    exit 1
  fi
  sleep 1
done
