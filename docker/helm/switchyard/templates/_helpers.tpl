{{- define "switchyard.name" -}}
{{- printf "%s" .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- end }}

{{- define "switchyard.labels" -}}
app.kubernetes.io/name: switchyard
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{/* Of one part: dict "root" $ "part" "gateway" */}}
{{- define "switchyard.selector" -}}
app.kubernetes.io/name: switchyard
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .part }}
{{- end }}

{{/* Of one target of docker/Dockerfile: dict "root" $ "target" "gateway" */}}
{{- define "switchyard.image" -}}
{{ .root.Values.image.registry }}/switchyard-{{ .target }}:{{ .root.Values.image.tag | default .root.Chart.AppVersion }}
{{- end }}

{{- define "switchyard.worker" -}}
{{ include "switchyard.name" .root }}-worker-{{ .worker.model | lower | replace "." "-" | replace "_" "-" | trunc 40 | trimSuffix "-" }}
{{- end }}

{{/* Grace of the drain, and time to settle the rest. */}}
{{- define "switchyard.terminationSeconds" -}}
{{ add (div (index .Values.settings "server.shutdown_grace_ms" | default 10000 | int) 1000) 15 }}
{{- end }}

{{/* Host names of the gateways: their Service, the Ingress and those of `auth.allowedHosts`. */}}
{{- define "switchyard.allowedHosts" -}}
{{- $service := printf "%s-gateway" (include "switchyard.name" .) -}}
{{- $names := list $service (printf "%s.%s" $service .Release.Namespace) (printf "%s.%s.svc" $service .Release.Namespace) -}}
{{- $names = append $names (printf "%s.%s.svc.cluster.local" $service .Release.Namespace) -}}
{{- if .Values.gateway.ingress.enabled }}{{ $names = append $names .Values.gateway.ingress.host }}{{ end -}}
{{- join "," (concat $names .Values.auth.allowedHosts) -}}
{{- end }}

{{- define "switchyard.pod" -}}
serviceAccountName: {{ include "switchyard.name" . }}
automountServiceAccountToken: false
securityContext:
  runAsNonRoot: true
  runAsUser: 1000
  runAsGroup: 1000
  fsGroup: 1000
  seccompProfile: { type: RuntimeDefault }
{{- with .Values.image.pullSecrets }}
imagePullSecrets: {{ toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* Of one role: dict "root" $ "role" "gateway" */}}
{{- define "switchyard.container" -}}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
securityContext:
  readOnlyRootFilesystem: true
  allowPrivilegeEscalation: false
  capabilities: { drop: [ALL] }
envFrom:
  - configMapRef: { name: {{ include "switchyard.name" .root }} }
  - secretRef: { name: {{ index .root.Values.shared.secrets .role }} }
{{- end }}

{{- define "switchyard.mounts" -}}
- { name: data, mountPath: /app/data }
- { name: tmp, mountPath: /tmp }
- { name: models-file, mountPath: /etc/switchyard, readOnly: true }
{{- end }}

{{- define "switchyard.volumes" -}}
- { name: data, emptyDir: {} }
- { name: tmp, emptyDir: {} }
- { name: models-file, configMap: { name: {{ include "switchyard.name" . }}-models } }
{{- end }}

{{/* Spread over nodes: dict "root" $ "part" "gateway" */}}
{{- define "switchyard.spread" -}}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector: { matchLabels: { {{- include "switchyard.selector" . | replace "\n" ", " -}} } }
{{- end }}
