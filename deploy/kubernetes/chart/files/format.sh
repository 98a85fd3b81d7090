#!/bin/sh
# Formats the volume of this controller before its first start, and leaves a formatted one as it is.
#
# The first controller is the first voter of a new quorum, and each other one joins with a directory id of its own
# (KIP-853), as does each that has lost its volume. Only the first could begin a second quorum beside one that exists,
# after its volume was lost. So it begins one only after every other controller has answered that it knows of none.
# The id is one word with its flag: it may begin with a dash.
set -eu
# As process 1 it ignores each signal that it does not handle, and a pod that waits would end late.
trap 'exit 143' TERM
if [ -e "$LOG_DIRECTORY/meta.properties" ]; then
  # It stays as it is, and is refused if it is of another cluster or node.
  exec kraftctl format -g "--cluster-id=$CLUSTER_ID" -c "$CONFIG_DIRECTORY/controller.properties" --no-initial-controllers
fi

# Prints --standalone, --no-initial-controllers, or nothing while too few have answered.
first_or_not() {
  if said=$(kraftctl quorum --bootstrap-controller "$OTHER_CONTROLLERS" \
    --command-config "$CONFIG_DIRECTORY/client.properties" describe --status 2>&1); then
    echo --no-initial-controllers
    return
  fi
  case $said in
    *"leads epoch "* | *"leader of epoch "[1-9]*)
      echo --no-initial-controllers
      return
      ;;
  esac
  for other in $(echo "$OTHER_CONTROLLERS" | tr , ' '); do
    if ! echo "$said" | grep -q "$other .*knows no leader of epoch 0$"; then
      echo "waiting until $other says that it knows of no quorum, or one answers that there is one: $said" >&2
      return
    fi
  done
  echo --standalone
}

quorum=--no-initial-controllers
if [ "$NODE_ID" = "$FIRST_NODE_ID" ] && [ -z "$EXISTING_QUORUM" ]; then
  quorum=--standalone
  if [ -n "$OTHER_CONTROLLERS" ]; then
    while quorum=$(first_or_not) && [ -z "$quorum" ]; do sleep 1; done
  fi
fi
exec kraftctl format "--cluster-id=$CLUSTER_ID" -c "$CONFIG_DIRECTORY/controller.properties" "$quorum"
