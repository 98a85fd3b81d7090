{{/* Refuses values that would begin a second quorum beside one that is there, or end it. Only Helm with
a cluster finds that one: `helm template` alone does not, and `helm rollback` renders nothing. */}}
{{- define "kraftctl.refuseOfRelease" -}}
{{- $sets := (lookup "apps/v1" "StatefulSet" .Release.Namespace "").items -}}
{{- $isInstalled := false -}}
{{- range $sets -}}
{{- if eq (include "kraftctl.isOurs" (list $ .)) "yes" -}}
{{- $isInstalled = true -}}
{{- include "kraftctl.refuseChanges" (list $ .) -}}
{{- include "kraftctl.refuseOtherAddresses" (list $ .) -}}
{{- include "kraftctl.refuseOtherProtocol" (list $ .) -}}
{{- include "kraftctl.refuseOtherStorage" (list $ .) -}}
{{- end -}}
{{- end -}}
{{- $begins := not (or $isInstalled .Values.existingQuorum) -}}
{{- range $sets -}}
{{- if and $begins (eq (include "kraftctl.variable" (list . "CLUSTER_ID")) $.Values.clusterId) -}}
{{- $release := get (default dict .metadata.labels) "app.kubernetes.io/instance" -}}
{{- fail (printf "the StatefulSet %s of the release %s has controllers of the Kafka cluster %s, and those of another release would begin a second, empty quorum of it. Next step: helm upgrade %s; for controllers that join them, name them in existingQuorum" .metadata.name $release $.Values.clusterId $release) -}}
{{- end -}}
{{- end -}}
{{- include "kraftctl.refuseOtherVolumes" (list . $begins) -}}
{{- if not $isInstalled -}}
{{- include "kraftctl.refuseVolumesWithoutPod" . -}}
{{- end -}}
{{- if not (or $isInstalled .Release.IsUpgrade) -}}
{{- include "kraftctl.refuseLittleStorage" . -}}
{{- end -}}
{{- end -}}

{{/* Whether an object has the labels of this release. */}}
{{- define "kraftctl.isOurs" -}}
{{- $labels := default dict (index . 1).metadata.labels -}}
{{- $root := index . 0 -}}
{{- if and (eq (default "" (get $labels "app.kubernetes.io/instance")) $root.Release.Name) (eq (default "" (get $labels "app.kubernetes.io/name")) $root.Chart.Name) -}}
yes
{{- end -}}
{{- end -}}

{{/* A variable of the pods of a StatefulSet; empty without one. */}}
{{- define "kraftctl.variable" -}}
{{- $name := index . 1 -}}
{{- range dig "template" "spec" "initContainers" list (index . 0).spec -}}
{{- range .env -}}
{{- if eq .name $name -}}
{{- default "" .value -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* What an upgrade must leave as the StatefulSet has it. */}}
{{- define "kraftctl.refuseChanges" -}}
{{- $root := index . 0 -}}
{{- $set := index . 1 -}}
{{- $name := $set.metadata.name -}}
{{- if ne $name (include "kraftctl.name" $root) -}}
{{- fail (printf "the controllers of this release are named %s, and those of another name would begin a second, empty quorum of the same cluster. Next step: set fullnameOverride=%s" $name $name) -}}
{{- end -}}
{{- $start := int (dig "ordinals" "start" 0 $set.spec) -}}
{{- if ne $start (int $root.Values.firstNodeId) -}}
{{- fail (printf "the node ids of this release begin with %d, and others would begin a second, empty quorum of the same cluster. Next step: set firstNodeId=%d" $start $start) -}}
{{- end -}}
{{- $count := int $set.spec.replicas -}}
{{- if and (lt (int $root.Values.replicas) $count) (eq $count 2) -}}
{{- fail "this release has two controllers, and one of two voters is no majority: it could not even remove the voter that is gone. Next step: set replicas=2 or more" -}}
{{- end -}}
{{- if lt (int $root.Values.replicas) $count -}}
{{- $fewer := sub $count 1 -}}
{{- $gone := printf "%s-%d" $name (add $start $fewer) -}}
{{- fail (printf "this release has %d controllers, and with fewer an upgrade stops two at a time: one that goes, and one whose list of controllers changes. Next step: once all that are voters are ready, kubectl -n %s scale statefulset %s --replicas=%d, wait until the pod %s is gone, remove its voter with kraftctl quorum remove-controller -i and -d as describe --status has them (a pod that never started is no voter: scale it away, and remove nothing), and then helm upgrade with --reset-then-reuse-values --set replicas=%d; one controller after the other" $count $root.Release.Namespace $name $fewer $gone $fewer) -}}
{{- end -}}
{{- $cluster := include "kraftctl.variable" (list $set "CLUSTER_ID") -}}
{{- if ne $cluster $root.Values.clusterId -}}
{{- fail (printf "the controllers of this release are those of the Kafka cluster %s, and their volumes stay so. Next step: set clusterId=%s, or install another release" $cluster $cluster) -}}
{{- end -}}
{{- $joined := include "kraftctl.variable" (list $set "EXISTING_QUORUM") -}}
{{- $ready := int (dig "status" "readyReplicas" 0 $set) -}}
{{- if and $joined (not $root.Values.existingQuorum) (lt $ready $count) -}}
{{- fail (printf "the controllers of this release join the quorum of %s, and %d of %d are ready: one that has not joined would begin a second, empty quorum of the same cluster. Next step: set existingQuorum={%s} until all are ready" $joined $ready $count $joined) -}}
{{- end -}}
{{- end -}}

{{/* The log has the addresses of voters, and brokers have them: after an update one by one none would reach the others. */}}
{{- define "kraftctl.refuseOtherAddresses" -}}
{{- $root := index . 0 -}}
{{- $before := include "kraftctl.variable" (list (index . 1) "CONTROLLERS") | splitList "," | first -}}
{{- $after := include "kraftctl.controllers" $root | splitList "," | first -}}
{{- if and $before (ne $before $after) -}}
{{- fail (printf "the first controller of this release is %s, with these values it would be %s, and the voters and brokers know the former. Next step: leave clusterDomain and ports.controller as they were; only if no controller was ever ready, delete the StatefulSet, with its pods and not with their volumes, before the upgrade" $before $after) -}}
{{- end -}}
{{- end -}}

{{/* How controllers authenticate each other. */}}
{{- define "kraftctl.refuseOtherProtocol" -}}
{{- $root := index . 0 -}}
{{- $before := "PLAINTEXT" -}}
{{- $config := "" -}}
{{- range (index . 1).spec.template.spec.volumes -}}
{{- if eq .name "sasl" -}}
{{- $before = "SASL_SSL" -}}
{{- else if and (eq .name "tls") (eq $before "PLAINTEXT") -}}
{{- $before = "SSL" -}}
{{- else if eq .name "config" -}}
{{- $config = .configMap.name -}}
{{- end -}}
{{- end -}}
{{- $after := include "kraftctl.protocol" $root -}}
{{- range (lookup "v1" "ConfigMap" $root.Release.Namespace "").items -}}
{{- if and (eq .metadata.name $config) (eq $before $after "SASL_SSL") -}}
{{- $before = get .data "controller.properties" | regexFind "(?m)^sasl[.]mechanism[.]controller[.]protocol=.*$" | splitList "=" | last -}}
{{- $after = $root.Values.sasl.mechanism -}}
{{- end -}}
{{- end -}}
{{- if ne $before $after -}}
{{- fail (printf "the controllers of this release listen by %s, and those that listen by %s do not reach them: an update one by one would stop the quorum. Next step: leave tls.enabled and sasl.mechanism as they were, or delete the StatefulSet, with its pods and not with their volumes, in an outage (docs/operations/kubernetes.md)" $before $after) -}}
{{- end -}}
{{- end -}}

{{/* Kubernetes refuses another template of volumes, and compares sizes as numbers. */}}
{{- define "kraftctl.refuseOtherStorage" -}}
{{- $now := (index . 0).Values.storage -}}
{{- range (index . 1).spec.volumeClaimTemplates -}}
{{- $size := .spec.resources.requests.storage -}}
{{- if ne (include "kraftctl.number" (list "storage.size" $size)) (include "kraftctl.number" (list "storage.size" $now.size)) -}}
{{- fail (printf "storage.size is %s, and the volumes of this release have %s: Kubernetes lets no upgrade change that. Next step: leave storage.size=%s, and grow the PersistentVolumeClaims themselves" $now.size $size $size) -}}
{{- end -}}
{{- $class := default "null" .spec.storageClassName -}}
{{- if ne $class (default "null" $now.className) -}}
{{- fail (printf "storage.className is %s, and the volumes of this release have %s: Kubernetes lets no upgrade change that. Next step: leave storage.className=%s" (default "null" $now.className) $class $class) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* At an installation alone: a release that has such volumes cannot change them. */}}
{{- define "kraftctl.refuseLittleStorage" -}}
{{- if lt (include "kraftctl.number" (list "storage.size" .Values.storage.size) | float64) 104857600.0 -}}
{{- fail (printf "storage.size is %s: a volume has segments of the log and two snapshots (docs/sizing.md). Next step: set storage.size=10Gi, or 100Mi or more" .Values.storage.size) -}}
{{- end -}}
{{- end -}}

{{/* Volumes outlive their release: one that is installed again must begin with them, as must another of the same cluster. */}}
{{- define "kraftctl.refuseOtherVolumes" -}}
{{- $root := index . 0 -}}
{{- $begins := index . 1 -}}
{{- $found := list -}}
{{- range (lookup "v1" "PersistentVolumeClaim" $root.Release.Namespace "").items -}}
{{- $cluster := get (default dict .metadata.annotations) "kraftctl/cluster-id" -}}
{{- if or (eq (include "kraftctl.isOurs" (list $root .)) "yes") (and $begins (eq $cluster $root.Values.clusterId)) -}}
{{- $found = append $found .metadata.name -}}
{{- end -}}
{{- end -}}
{{- $known := false -}}
{{- range untilStep 0 (int $root.Values.replicas) 1 -}}
{{- $known = or $known (has (printf "data-%s-%d" (include "kraftctl.name" $root) (add (int $root.Values.firstNodeId) .)) $found) -}}
{{- end -}}
{{- if and $found (not $known) -}}
{{- fail (printf "this release or its cluster has the volumes %s of an earlier installation, and with these values its controllers would begin a second, empty quorum beside them. Next step: set fullnameOverride and firstNodeId so that the first controller has the first of them" (join ", " (sortAlpha $found))) -}}
{{- end -}}
{{- end -}}

{{/* A repair deletes the StatefulSet, and what it had is known by its volumes only: which voters there are, and whether
they joined a quorum. */}}
{{- define "kraftctl.refuseVolumesWithoutPod" -}}
{{- $first := int64 .Values.firstNodeId -}}
{{- $last := add $first (int .Values.replicas) -1 -}}
{{- $from := $first -}}
{{- $to := $first -}}
{{- $without := list -}}
{{- $joined := "" -}}
{{- $joining := list -}}
{{- range (lookup "v1" "PersistentVolumeClaim" .Release.Namespace "").items -}}
{{- $annotations := default dict .metadata.annotations -}}
{{- $isOurs := or (eq (include "kraftctl.isOurs" (list $ .)) "yes") (eq (get $annotations "kraftctl/cluster-id") $.Values.clusterId) -}}
{{- if and $isOurs (regexMatch (printf "^data-%s-[0-9]+$" (include "kraftctl.name" $)) .metadata.name) -}}
{{- $id := regexFind "[0-9]+$" .metadata.name | int64 -}}
{{- $from = min $from $id -}}
{{- $to = max $to $id -}}
{{- if or (lt $id $first) (gt $id $last) -}}
{{- $without = append $without .metadata.name -}}
{{- end -}}
{{- if hasKey $annotations "kraftctl/existing-quorum" -}}
{{- $joined = get $annotations "kraftctl/existing-quorum" -}}
{{- $joining = append $joining .metadata.name -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if $without -}}
{{- fail (printf "the volumes %s are of this release or its cluster, and with replicas=%d and firstNodeId=%d no controller has them: those that are left of its voters may be no majority, or begin a second, empty quorum. Next step: set the values of the earlier installation, as replicas=%d and firstNodeId=%d, or delete the volumes of voters that were removed" (join ", " (sortAlpha $without)) (int .Values.replicas) $first (add (sub $to $from) 1) $from) -}}
{{- end -}}
{{- if and $joined (not .Values.existingQuorum) -}}
{{- fail (printf "the volumes %s are of controllers that join the quorum of %s: the first one, if its volume is empty, would begin a second, empty quorum of the same cluster. Next step: set existingQuorum={%s}, also if all have joined long ago" (join ", " (sortAlpha $joining)) $joined $joined) -}}
{{- end -}}
{{- end -}}

{{/* The cluster of the volumes, as an id may begin with a dash, which no label may, and the quorum that they join. Kubernetes
lets no upgrade change the template of volumes, so a StatefulSet keeps what it has. */}}
{{- define "kraftctl.annotationsOfVolumes" -}}
{{- $found := dict "kraftctl/cluster-id" .Values.clusterId -}}
{{- with .Values.existingQuorum -}}
{{- $found = set $found "kraftctl/existing-quorum" (join "," .) -}}
{{- end -}}
{{- range (lookup "apps/v1" "StatefulSet" .Release.Namespace "").items -}}
{{- if eq (include "kraftctl.isOurs" (list $ .)) "yes" -}}
{{- range .spec.volumeClaimTemplates -}}
{{- $found = default dict .metadata.annotations -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- with $found -}}
annotations:
{{- range $key, $value := . }}
  {{ $key }}: {{ $value | quote }}
{{- end -}}
{{- end -}}
{{- end -}}
