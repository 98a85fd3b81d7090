{{/* What the container that formats and the one that runs the controller have in common. */}}
{{- define "kraftctl.container" -}}
image: {{ include "kraftctl.image" . }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
env:
  - name: NODE_ID
    valueFrom:
      fieldRef:
        fieldPath: metadata.labels['apps.kubernetes.io/pod-index']
  - name: POD_NAME
    valueFrom:
      fieldRef:
        fieldPath: metadata.name
  - name: CLUSTER_ID
    value: {{ .Values.clusterId | quote }}
  - name: FIRST_NODE_ID
    value: {{ .Values.firstNodeId | int | quote }}
  - name: CONTROLLERS
    value: {{ include "kraftctl.controllers" . | quote }}
  - name: OTHER_CONTROLLERS
    value: {{ include "kraftctl.controllers" . | splitList "," | rest | join "," | quote }}
  - name: EXISTING_QUORUM
    value: {{ join "," .Values.existingQuorum | quote }}
  - name: RESTART_GATE_SECONDS
    value: {{ .Values.restartGate.waitSeconds | int | quote }}
  - name: CONFIG_DIRECTORY
    value: /etc/kraftctl
  - name: LOG_DIRECTORY
    value: /var/lib/kraftctl/data
resources:
  {{- toYaml .Values.resources | nindent 2 }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
volumeMounts:
  - name: data
    mountPath: /var/lib/kraftctl
  - name: config
    mountPath: /etc/kraftctl
    readOnly: true
  - name: tmp
    mountPath: /tmp
  {{- if .Values.tls.enabled }}
  - name: tls
    mountPath: /etc/kraftctl-tls
    readOnly: true
  {{- end }}
  {{- if .Values.sasl.mechanism }}
  - name: sasl
    mountPath: /etc/kraftctl-sasl
    readOnly: true
  {{- end }}
  {{- if .Values.secretName }}
  - name: secrets
    mountPath: /etc/kraftctl-secrets
    readOnly: true
  {{- end }}
{{- end -}}
