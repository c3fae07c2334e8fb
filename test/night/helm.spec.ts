import { execFileSync } from 'node:child_process';
import { describe, expect } from '@jest/globals';
import { parseAllDocuments } from 'yaml';
import { helmBinary } from '../support/packaging.js';
import { itWith } from '../support/requires.js';

// `npm run lint:packaging` builds it where there is Go, in minutes: no part of the gate.
const helm = helmBinary();

describe('docker/helm/switchyard', () => {
  itWith({ name: 'helm', present: helm !== undefined })(
    'renders to valid YAML with everything switched on',
    () => {
      const on = [
        'keda.enabled',
        'gateway.autoscaling.enabled',
        'gateway.ingress.enabled',
        'monitoring.serviceMonitor',
        'monitoring.rules',
        'monitoring.dashboard',
      ];
      const set = on.map(name => `${name}=true`).join(',');
      const chart = ['docker/helm/switchyard', '--kube-version', '1.31.0', '--set', set];
      const text = execFileSync(helm!, ['template', 'r', ...chart], { encoding: 'utf8' });
      const documents = parseAllDocuments(text);
      expect(documents.flatMap(({ errors }) => errors)).toEqual([]);
      const kinds = documents.map(document => (document.toJS() as { kind: string } | null)?.kind);
      const wanted = [
        'Deployment',
        'PodDisruptionBudget',
        'NetworkPolicy',
        'ScaledObject',
        'HorizontalPodAutoscaler',
        'ServiceMonitor',
        'PrometheusRule',
        'Ingress',
      ];
      expect(kinds).toEqual(expect.arrayContaining(wanted));
    },
  );
});
