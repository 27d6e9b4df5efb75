{{- /*
The rules of a part, out of the files that `make generate` writes; `without` are resources that this
installation doesn't touch.
*/ -}}
{{- define "slurm-operator.rules" -}}
{{- $secret := .root.Values.certManager.secretName }}
{{- $text := .root.Files.Get (printf "files/rbac/%s.yaml" .part) | replace "slurm-operator-webhook-ca" $secret }}
{{- $kept := list }}
{{- $named := list "validatingwebhookconfigurations" "mutatingwebhookconfigurations" }}
{{- range (fromYaml $text).rules }}
{{- if has (first (.resources | default (list ""))) $named }}
{{- $_ := set . "resourceNames" (list $.root.Values.webhook.configuration) }}
{{- end }}
{{- if not (has (first (.resources | default (list ""))) ($.without | default list)) }}
{{- $kept = append $kept . }}
{{- end }}
{{- end }}
{{- if $kept }}{{ toYaml $kept }}{{ end }}
{{- end }}

{{- /* A role for a part and its binding: in a namespace, or without one in the whole cluster. */ -}}
{{- define "slurm-operator.grant" -}}
{{- $rules := include "slurm-operator.rules" . }}
{{- if $rules }}
{{- $kind := ternary "Role" "ClusterRole" (not (empty .namespace)) }}
{{- $name := printf "%s-%s" (ternary (include "slurm-operator.name" .root) (include "slurm-operator.fullname" .root) (not (empty .namespace))) .part }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ $kind }}
metadata:
  name: {{ $name }}
  {{- with .namespace }}
  namespace: {{ . }}
  {{- end }}
  labels: {{- include "slurm-operator.labels" .root | nindent 4 }}
rules: {{- $rules | nindent 2 }}
{{- if not .unbound }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ $kind }}Binding
metadata:
  name: {{ $name }}
  {{- with .namespace }}
  namespace: {{ . }}
  {{- end }}
  labels: {{- include "slurm-operator.labels" .root | nindent 4 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: {{ $kind }}
  name: {{ $name }}
subjects:
  - kind: ServiceAccount
    name: {{ include "slurm-operator.serviceAccount" .root }}
    namespace: {{ include "slurm-operator.namespace" .root }}
{{- end }}
{{- end }}
{{- end }}
