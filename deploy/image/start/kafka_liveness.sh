#!/bin/sh
# Strimzi's liveness probe, which looks for a process of Java: a controller of kraftctl is none.
for process in /proc/[0-9]*; do
  case $(tr '\0' ' ' 2> /dev/null < "$process/cmdline") in
    /opt/kraftctl/bin/python*kraftctl\ start*) exit 0 ;;
  esac
done
exec "$(dirname "$0")/kafka_liveness-java.sh"
