{{/* What the chart writes itself, and keys that contradict it, with the value that has their place; none if the chart
always writes the same. */}}
{{- define "kraftctl.ownKeys" -}}
process.roles: ""
node.id: firstNodeId
broker.id: firstNodeId
log.dir: ""
log.dirs: ""
metadata.log.dir: ""
listeners: ports.controller
advertised.listeners: ports.controller
controller.listener.names: ""
listener.security.protocol.map: tls.enabled
inter.broker.listener.name: ""
controller.quorum.bootstrap.servers: existingQuorum
controller.quorum.voters: existingQuorum
controller.quorum.auto.join.enable: ""
kraftctl.operate.listeners: ports.operate
kraftctl.scram.users.path: sasl.secretName
sasl.enabled.mechanisms: sasl.mechanism
sasl.mechanism.controller.protocol: sasl.mechanism
{{- end -}}

{{/* The beginnings of further ones. */}}
{{- define "kraftctl.ownPrefixes" -}}
config.providers: secretName
ssl.keystore.: tls.secretName
ssl.truststore.: tls.secretName
{{- end -}}

{{/* Refuses keys that the chart writes, variables that no provider knows, and files where a pod cannot write. */}}
{{- define "kraftctl.refuseConfig" -}}
{{- $own := include "kraftctl.ownKeys" . | fromYaml -}}
{{- $prefixes := include "kraftctl.ownPrefixes" . | fromYaml -}}
{{- $providers := list "env" -}}
{{- if .Values.secretName -}}{{- $providers = append $providers "secrets" -}}{{- end -}}
{{- if .Values.sasl.mechanism -}}{{- $providers = append $providers "sasl" -}}{{- end -}}
{{- range $key, $given := .Values.config -}}
{{- $value := $given | toString -}}
{{- $short := trimPrefix "listener.name.controller." $key -}}
{{- $isOwn := hasKey $own $short -}}
{{- $place := get $own $short -}}
{{- if and (ne $short $key) (hasSuffix ".sasl.jaas.config" $short) -}}
{{- $isOwn = true -}}
{{- $place = "sasl.secretName" -}}
{{- end -}}
{{- range $prefix, $each := $prefixes -}}
{{- if hasPrefix $prefix $short -}}
{{- $isOwn = true -}}
{{- $place = $each -}}
{{- end -}}
{{- end -}}
{{- if and $isOwn $place -}}
{{- fail (printf "config has %s, which the chart writes from another value. Next step: leave it out, and set %s" $key $place) -}}
{{- else if $isOwn -}}
{{- fail (printf "config has %s, which the chart writes, always the same. Next step: leave it out: no value changes it" $key) -}}
{{- end -}}
{{- range regexFindAll "[$][{][^}:]*:[^}:]*" $value -1 -}}
{{- $provider := index (splitList ":" .) 0 | trimPrefix "${" -}}
{{- if not (has $provider $providers) -}}
{{- fail (printf "config.%s has ${%s:...}, and the controllers know %s. Next step: for secrets set secretName, for sasl set sasl.mechanism, or write the value itself" $key $provider (join ", " $providers)) -}}
{{- end -}}
{{- if and (eq $provider "secrets") (not (regexMatch "^[$][{]secrets:/etc/kraftctl-secrets(/.*)?$" .)) -}}
{{- fail (printf "config.%s has %s, and the secret of secretName is mounted at /etc/kraftctl-secrets. Next step: write ${secrets:/etc/kraftctl-secrets:KEY}" $key .) -}}
{{- end -}}
{{- end -}}
{{- if and (has $key (list "kraftctl.audit.log.path" "kraftctl.authorizer.log.path")) (not (hasPrefix "/var/lib/kraftctl/" $value)) -}}
{{- fail (printf "config.%s is %s, and a pod can write only below /var/lib/kraftctl/. Next step: name a file there, as /var/lib/kraftctl/audit.log" $key $value) -}}
{{- end -}}
{{- end -}}
{{- include "kraftctl.refuseRights" . -}}
{{- end -}}

{{/* With an authorizer, controllers are refused by each other unless they are super users. A quorum that exists may have ACLs. */}}
{{- define "kraftctl.refuseRights" -}}
{{- $super := get .Values.config "super.users" | toString -}}
{{- if and (get .Values.config "authorizer.class.name") (not .Values.existingQuorum) (ne (get .Values.config "allow.everyone.if.no.acl.found" | toString) "true") -}}
{{- if not (hasKey .Values.config "super.users") -}}
{{- fail "config.authorizer.class.name needs config.super.users: without it controllers refuse each other, and no quorum begins. Next step: name the principal of the controllers there, as User:CN=NAME of their certificate or User:NAME of their password" -}}
{{- end -}}
{{- if and (not .Values.tls.enabled) (not (contains "User:ANONYMOUS" $super)) (not (contains "${" $super)) -}}
{{- fail "config.super.users must have User:ANONYMOUS without tls.enabled: that is who a controller is in clear text, and no quorum begins without it. Next step: set tls.enabled=true, or add User:ANONYMOUS, which makes every client a super user" -}}
{{- end -}}
{{- end -}}
{{- end -}}
