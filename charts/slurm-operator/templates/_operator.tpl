{{- /* What would go wrong later is said now. */ -}}
{{- define "slurm-operator.check" -}}
{{- if and (not .Values.operator.leaderElection) (gt (include "slurm-operator.replicas" . | int) 1) }}
{{- fail "operator.leaderElection: several replicas would all act; set it to true, or operator.replicas to 1" }}
{{- end }}
{{- if and .Values.certManager.enabled .Values.externalCertInjection.enabled }}
{{- fail "certManager.enabled and externalCertInjection.enabled: set one of them to false, as only one can make the certificate" }}
{{- end }}
{{- end }}

{{- /* One process does both, so whoever wanted three of the webhook gets three. */ -}}
{{- define "slurm-operator.replicas" -}}
{{- $asked := ternary (dig "replicas" 1 .Values.webhook) 0 .Values.webhook.enabled }}
{{- ternary (max (int .Values.operator.replicas) (int $asked)) 0 (gt (int .Values.operator.replicas) 0) }}
{{- end }}

{{- /* The namespaces in a value, as JSON; `*` and nothing mean all. */ -}}
{{- define "slurm-operator.listed" -}}
{{- $found := list }}
{{- range splitList "," (nospace (. | default "" | toString)) }}
{{- if . }}{{ $found = append $found . }}{{ end }}
{{- end }}
{{- ternary (list) ($found | uniq) (has "*" $found) | toJson }}
{{- end }}

{{- /* A port as a flag has it. */ -}}
{{- define "slurm-operator.address" -}}
{{ ternary (printf ":%d" (int .)) "0" (gt (int .) 0) }}
{{- end }}

{{- /* The APIs that clusters are asked for in, as JSON; nothing means all that there are. */ -}}
{{- define "slurm-operator.dialects" -}}
{{- .Values.operator.dialects | default (list "slinky" "nebius") | uniq | toJson }}
{{- end }}
