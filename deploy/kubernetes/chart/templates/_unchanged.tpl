{{/* Refuses values that would begin a second quorum beside one that is there, or end it. Only Helm with
a cluster finds that one: `helm template` alone does not. */}}
{{- define "kraftctl.refuseOfRelease" -}}
{{- range (lookup "apps/v1" "StatefulSet" .Release.Namespace "").items -}}
{{- if eq (include "kraftctl.isOurs" (list $ .)) "yes" -}}
{{- include "kraftctl.refuseChanges" (list $ .) -}}
{{- end -}}
{{- end -}}
{{- include "kraftctl.refuseOtherVolumes" . -}}
{{- end -}}

{{/* Whether an object has the labels of this release. */}}
{{- define "kraftctl.isOurs" -}}
{{- $labels := default dict (index . 1).metadata.labels -}}
{{- $root := index . 0 -}}
{{- if and (eq (default "" (get $labels "app.kubernetes.io/instance")) $root.Release.Name) (eq (default "" (get $labels "app.kubernetes.io/name")) $root.Chart.Name) -}}
yes
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
{{- if lt (int $root.Values.replicas) (sub (int $set.spec.replicas) 1) -}}
{{- fail (printf "this release has %d controllers, and without two or more of them the others may be no majority of the voters. Next step: set replicas=%d, wait until the pod is gone, and remove its voter with kraftctl quorum remove-controller; then the next one" (int $set.spec.replicas) (sub (int $set.spec.replicas) 1)) -}}
{{- end -}}
{{- $cluster := "" -}}
{{- range $set.spec.template.spec.initContainers -}}
{{- range .env -}}
{{- if eq .name "CLUSTER_ID" -}}
{{- $cluster = .value -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if ne $cluster $root.Values.clusterId -}}
{{- fail (printf "the controllers of this release are those of the Kafka cluster %s, and their volumes stay so. Next step: set clusterId=%s, or install another release" $cluster $cluster) -}}
{{- end -}}
{{- $protocol := "PLAINTEXT" -}}
{{- range $set.spec.template.spec.volumes -}}
{{- if eq .name "sasl" -}}
{{- $protocol = "SASL_SSL" -}}
{{- else if and (eq .name "tls") (eq $protocol "PLAINTEXT") -}}
{{- $protocol = "SSL" -}}
{{- end -}}
{{- end -}}
{{- if ne $protocol (include "kraftctl.protocol" $root) -}}
{{- fail (printf "the controllers of this release listen by %s, and those that listen by %s do not reach them: an update one by one would stop the quorum. Next step: leave tls.enabled and sasl.mechanism as they were, or delete the StatefulSet, with its pods and not with their volumes, in an outage (docs/operations/kubernetes.md)" $protocol (include "kraftctl.protocol" $root)) -}}
{{- end -}}
{{- end -}}

{{/* Volumes outlive their release: one that is installed again must begin with them. */}}
{{- define "kraftctl.refuseOtherVolumes" -}}
{{- $found := list -}}
{{- range (lookup "v1" "PersistentVolumeClaim" .Release.Namespace "").items -}}
{{- if eq (include "kraftctl.isOurs" (list $ .)) "yes" -}}
{{- $found = append $found .metadata.name -}}
{{- end -}}
{{- end -}}
{{- $known := false -}}
{{- range untilStep 0 (int .Values.replicas) 1 -}}
{{- $known = or $known (has (printf "data-%s-%d" (include "kraftctl.name" $) (add (int $.Values.firstNodeId) .)) $found) -}}
{{- end -}}
{{- if and $found (not $known) -}}
{{- fail (printf "this release has the volumes %s of an earlier installation, and with these values its controllers would begin a second, empty quorum beside them. Next step: set fullnameOverride and firstNodeId so that the first controller has the first of them" (join ", " (sortAlpha $found))) -}}
{{- end -}}
{{- end -}}
