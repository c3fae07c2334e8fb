import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { neededStages } from '../../scripts/images/stages.mjs';
import { changelogSection, hasUnreleased, versionsElsewhere } from '../../scripts/release.mjs';
import { PACKAGED_ENGINES } from '../../src/cli/models/engines/engine-packages.js';
import { CUDA_OF_PACKAGES } from '../../src/cli/models/engines/gpu.js';
import { modelsFromFile } from '../../src/platform/config/models-file.js';
import { PROCESSOR_NODE_FLAGS } from '../../src/platform/config/processor-link.js';
import { environmentName, SETTING_PATHS } from '../../src/platform/config/settings.js';
import { WORKER_USAGE } from '../../src/platform/config/worker-arguments.js';
import { parseYaml } from '../../src/platform/config/yaml-file.js';
import { METRICS } from '../../src/platform/metrics/registry.js';
import {
  dockerStages,
  environmentNames,
  inherited,
  labelsOf,
  metricsOf,
} from '../support/packaging.js';

const CHART = 'docker/helm/switchyard';
const TARGETS = ['gateway', 'speech', 'cuda', 'cpu'];
const VERSION = (JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }).version;
const COMPOSE = ['docker/compose.yaml', 'docker/compose.gpu.yaml', 'docker/compose.cluster.yaml'];
const SETTINGS = SETTING_PATHS.map(environmentName);
const read = (path: string): string => readFileSync(path, 'utf8');
const yaml = <T>(path: string): T => parse(read(path), { merge: true }) as T;

const problemsOf = (models: unknown): unknown =>
  modelsFromFile(
    parseYaml(typeof models === 'string' ? models : JSON.stringify({ models }), 'models'),
  ).problems;

describe('the version of package.json', () => {
  it.each(Object.entries(versionsElsewhere()))('is in %s', (_, versions) => {
    expect(new Set(versions)).toEqual(new Set([VERSION]));
  });
});

describe('CHANGELOG.md', () => {
  it('says of this version what to know before an upgrade first, in two minutes of reading', () => {
    const section = changelogSection(read('CHANGELOG.md'), VERSION);
    expect(section.split(/\s+/).length).toBeLessThan(560);
    expect(/^### (.*)$/m.exec(section)?.[1]).toBe('Before you upgrade');
  });

  it('keeps a release back while it has notes of no version', () => {
    const noted = '# Changelog\n\n## Unreleased\n\n- One.\n\n## 0.2.0\n\n- Two.\n';
    expect([noted, noted.replace('- One.\n\n', ''), '## 0.2.0\n'].map(hasUnreleased)).toEqual([
      ...[true, false, false],
    ]);
  });
});

describe('docker/Dockerfile', () => {
  const stages = dockerStages('docker/Dockerfile');
  const instructions = stages.flatMap(stage => stage.instructions);

  it('has the targets gateway, cuda, and cpu as the default', () => {
    const names = stages.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(TARGETS));
    expect(names.at(-1)).toBe('cpu');
  });

  it.each(TARGETS)('%s runs as uid 1000, and starts a main that exists', name => {
    const all = inherited(stages, name);
    expect(all.filter(line => line.startsWith('USER ')).at(-1)).toBe('USER 1000:1000');
    const start = all.filter(line => /^(CMD|ENTRYPOINT) .*dist/.test(line)).at(-1) ?? '';
    const main = /dist\/(main\.\w+)\.js/.exec(start)?.[1];
    expect([main, existsSync(`src/${main}.ts`)]).toEqual([expect.any(String), true]);
  });

  it.each(TARGETS)('%s listens beyond loopback, where the first start makes a key', name => {
    const environment = inherited(stages, name).filter(line => line.startsWith('ENV '));
    expect(environment.join(' ')).toContain('SWITCHYARD_SERVER_HOST=0.0.0.0');
    expect(environment.join(' ')).not.toMatch(/ALLOW_ANONYMOUS|KEYS_FILE/);
  });

  it('has the CUDA that its packages need', () => {
    const { from } = stages.find(({ name }) => name === 'cuda')!;
    expect(/^nvidia\/cuda:(\d+)\./.exec(from)?.[1]).toBe(CUDA_OF_PACKAGES);
  });

  it('copies what is in the repository', () => {
    const copied = instructions.filter(
      line => line.startsWith('COPY ') && !line.includes('--from='),
    );
    const sources = copied.flatMap(line => line.split(/\s+/).slice(1, -1));
    expect(sources.filter(source => !existsSync(source))).toEqual([]);
  });

  it('sets settings that exist', () => {
    expect(
      environmentNames(read('docker/Dockerfile')).filter(name => !SETTINGS.includes(name)),
    ).toEqual([]);
  });

  it('copies packages into the images that have engines, and none into gateway', () => {
    const copied = (stage: string): string[] =>
      stages
        .find(({ name }) => name === stage)!
        .instructions.filter(line => line.startsWith('COPY '));
    expect(copied('gateway')).toEqual(['COPY --from=product /app ./']);
    expect(copied('cpu')).toEqual([
      'COPY --from=cpu-build /app ./',
      'COPY --from=first-models /opt/switchyard /opt/switchyard',
    ]);
  });

  it('brings engines by the command that a machine uses, into the images that run them', () => {
    const installed = (stage: string): string[] =>
      inherited(stages, stage).flatMap(line =>
        [...line.matchAll(/engines install (\S+)/g)].map(([, name = '']) => name),
      );
    expect(installed('product')).toEqual([]);
    expect(installed('speech-build')).toEqual(['sherpa-onnx', 'ctranslate2']);
    expect(installed('cpu-build')).toEqual(PACKAGED_ENGINES);
    expect(installed('cuda-build')).toEqual(PACKAGED_ENGINES);
  });

  it('is built without Docker by the stages that a target needs', () => {
    const needed = neededStages(read('docker/Dockerfile'), 'gateway');
    const names = [...needed.matchAll(/^FROM \S+ AS (\S+)/gm)].map(([, name]) => name);
    expect(names).toEqual(['build', 'product', 'runtime', 'gateway']);
  });

  it('takes the CUDA builds by the command that a machine uses', () => {
    expect(instructions).toContain('RUN node dist/main.cli.js gpu install');
  });
});

interface Compose {
  readonly services: Record<string, Service>;
  readonly configs: Record<string, { content: string }>;
}
interface Service {
  readonly image?: string;
  readonly build?: { target: string };
  readonly environment?: Record<string, string>;
  readonly command?: readonly string[];
  readonly depends_on?: Record<string, unknown>;
  readonly volumes?: readonly string[];
  readonly configs?: readonly { source: string }[];
  readonly read_only?: boolean;
}

describe('docker/compose.yaml', () => {
  const { services } = yaml<Compose>('docker/compose.yaml');

  it('is one container, published on loopback, that makes its key: nothing is open, nothing is in the file', () => {
    expect(Object.keys(services)).toEqual(['switchyard']);
    expect(services.switchyard).toMatchObject({
      ports: ['127.0.0.1:8000:8000'],
      read_only: true,
    });
    expect(services.switchyard?.environment).toBeUndefined();
  });

  it.each(COMPOSE)(
    '%s has no secret, builds targets that exist and names images after them',
    file => {
      const secret = /PASSWORD|SECRET_ACCESS_KEY|:\/\/\w+:\S+@/;
      const lines = read(file).split('\n');
      expect(
        lines.filter(
          line => !line.startsWith('#') && secret.test(line) && !line.includes('${STORES_PASSWORD'),
        ),
      ).toEqual([]);
      const built = Object.values(yaml<Compose>(file).services).filter(({ build }) => build);
      for (const { build, image } of built) {
        expect(TARGETS).toContain(build!.target);
        expect(image).toBe(`switchyard-${build!.target}:${VERSION}`);
      }
    },
  );
});

describe('docker/compose.cluster.yaml', () => {
  const { services, configs } = yaml<Compose>('docker/compose.cluster.yaml');
  const ours = Object.entries(services).filter(([, { build }]) => build);

  it('runs gateways, pull workers and processors beside Redis, PostgreSQL, S3, Prometheus and Grafana', () => {
    expect(Object.keys(services)).toEqual(
      expect.arrayContaining([
        'proxy',
        'gateway',
        'batch',
        'redis',
        'postgres',
        's3',
        'prometheus',
        'grafana',
      ]),
    );
    expect(services.gateway?.environment).toMatchObject({
      SWITCHYARD_QUEUE_DRIVER: 'redis',
    });
  });

  it('builds targets that exist and runs them on a read-only root', () => {
    for (const [, service] of ours) {
      expect(TARGETS).toContain(service.build?.target);
      expect(service.read_only).toBe(true);
    }
  });

  it('sets settings that exist', () => {
    expect(
      environmentNames(read('docker/compose.cluster.yaml')).filter(
        name => !SETTINGS.includes(name),
      ),
    ).toEqual([]);
  });

  it('depends on services, configs and files that exist', () => {
    for (const service of Object.values(services)) {
      for (const name of Object.keys(service.depends_on ?? {}))
        expect(services).toHaveProperty(name);
      for (const { source } of service.configs ?? []) expect(configs).toHaveProperty(source);
      const files = (service.volumes ?? []).filter(volume => volume.startsWith('.'));
      for (const file of files) expect(existsSync(join('docker', file.split(':')[0]!))).toBe(true);
    }
  });

  it('starts processors with the flags that a gateway gives its own; so does the chart', () => {
    const wanted = ['node', ...PROCESSOR_NODE_FLAGS, 'dist/main.batch.js'];
    expect(services.batch?.command).toEqual(wanted);
    expect(read(`${CHART}/templates/batch.yaml`)).toContain(`command: [${wanted.join(', ')}]`);
  });

  it('has models without a mistake, each served by workers that are started for it', () => {
    const { models } = parse(configs.models!.content) as {
      models: { id: string; addresses: string[] }[];
    };
    expect(problemsOf(configs.models!.content)).toEqual([]);
    for (const { id, addresses } of models) {
      const [service = '', port = ''] = addresses[0]!.split(':');
      expect(services[service]?.command).toEqual([
        'node',
        'dist/main.worker.js',
        '--model',
        id,
        '--listen',
        `0.0.0.0:${port}`,
        '--insecure',
      ]);
    }
  });

  it('ships no secret that signs tokens: one is made at the first start and mounted', () => {
    expect(Object.keys(configs)).toEqual(['models']);
    const file = services.gateway?.environment?.SWITCHYARD_AUTH_TOKEN_SECRET_FILE ?? '';
    expect(services.gateway?.volumes).toContain(`secrets:${dirname(file)}:ro`);
    expect(services['token-secret']?.command?.[0]).toContain(
      `/dev/urandom | base64 > /secrets/${basename(file)}`,
    );
  });

  it('gives Prometheus the ports that gateways and processors serve metrics on', () => {
    const exposed = (service: string): string[] => {
      const target = /^switchyard-(\w+):/.exec(services[service]?.image ?? '')?.[1] ?? '';
      const lines = inherited(dockerStages('docker/Dockerfile'), target).filter(line =>
        line.startsWith('EXPOSE '),
      );
      return lines.flatMap(line => line.split(' ').slice(1));
    };
    const { scrape_configs: jobs } = yaml<{
      scrape_configs: { dns_sd_configs: { names: string[]; port: number }[] }[];
    }>('config/prometheus/prometheus.yaml');
    for (const { dns_sd_configs: targets } of jobs)
      for (const { names, port } of targets) expect(exposed(names[0]!)).toContain(String(port));
  });
});

describe('docker/helm/switchyard', () => {
  const templates = readdirSync(`${CHART}/templates`)
    .map(name => read(`${CHART}/templates/${name}`))
    .join('\n');
  const values = yaml<Record<string, unknown>>(`${CHART}/values.yaml`);

  it('sets settings that exist, in templates and by values', () => {
    const named = environmentNames(templates).filter(name => !SETTINGS.includes(name));
    expect(named).toEqual([]);
    const byValue = Object.keys(values.settings as object);
    expect(byValue.filter(path => !(SETTING_PATHS as readonly string[]).includes(path))).toEqual(
      [],
    );
  });

  it('asks for values that exist', () => {
    const asked = [...templates.matchAll(/\.Values((?:\.\w+)+)/g)].map(([, path = '']) =>
      path.slice(1).split('.'),
    );
    const missing = asked.filter(path => {
      let at: unknown = values;
      for (const key of path) at = (at as Record<string, unknown> | undefined)?.[key];
      return at === undefined;
    });
    expect(missing).toEqual([]);
  });

  it('has a schema for every value', () => {
    const schema = JSON.parse(read(`${CHART}/values.schema.json`)) as Schema;
    expect(undescribed(values, schema, 'values')).toEqual([]);
  });

  it('has models without a mistake, and workers for models that exist, by options that main.worker knows', () => {
    expect(problemsOf(values.models)).toEqual([]);
    const ids = (values.models as { id: string }[]).map(({ id }) => id);
    expect(
      (values.workers as { model: string }[]).filter(({ model }) => !ids.includes(model)),
    ).toEqual([]);
    const options = /args: \[([^\]]*)\]/.exec(templates)?.[1]?.match(/--\w+/g) ?? [];
    expect(options.filter(option => !WORKER_USAGE.includes(`${option} `))).toEqual([]);
    expect(options).toContain('--listen');
  });
});

interface Schema {
  readonly type?: string | readonly string[];
  readonly properties?: Record<string, Schema>;
  readonly items?: Schema;
  readonly additionalProperties?: unknown;
}

/** Paths of values that the schema says nothing about. */
function undescribed(value: unknown, schema: Schema | undefined, path: string): string[] {
  if (schema === undefined) return [path];
  if (Array.isArray(value))
    return value.flatMap((item, at) => undescribed(item, schema.items, `${path}[${at}]`));
  if (typeof value !== 'object' || value === null || schema.additionalProperties !== false)
    return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    undescribed(inner, schema.properties?.[key], `${path}.${key}`),
  );
}

describe('dashboard and alerts', () => {
  interface Rules {
    groups: {
      rules: {
        alert: string;
        expr: string;
        labels: { severity: string };
        annotations: { summary: string };
      }[];
    }[];
  }
  const rules = yaml<Rules>(`${CHART}/files/alerts.yaml`).groups.flatMap(group => group.rules);
  const { panels } = JSON.parse(read(`${CHART}/files/dashboard.json`)) as {
    panels: { id: number; title: string; targets?: { expr: string }[] }[];
  };
  const scaling = read(`${CHART}/templates/workers.yaml`).replace(/\{\{[^}]*\}\}/g, ' ');
  const query = /query: \|\n((?: {10}.*\n)+)/.exec(scaling)?.[1] ?? '';
  const expressions = [
    ...rules.map(({ expr }) => expr),
    ...panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)),
    query,
  ];

  it('ask for metrics that exist, by labels that those metrics have', () => {
    for (const expression of expressions) {
      const names = metricsOf(expression);
      expect(names).not.toEqual([]);
      for (const name of names.filter(known => known !== 'up'))
        expect(Object.keys(METRICS)).toContain(name);
      const labels: string[] = names.flatMap(name => [
        ...(METRICS[name as keyof typeof METRICS]?.labels ?? []),
      ]);
      const unknown = labelsOf(expression).filter(
        label => ![...labels, 'le', 'job'].includes(label),
      );
      expect([expression, unknown]).toEqual([expression, []]);
    }
  });

  it('scale workers by how many are wanted, and by what waits before that is known', () => {
    expect(metricsOf(query)).toEqual(['switchyard_replicas_wanted', 'scheduler_queue_depth']);
  });

  it('say how bad it is and what it means, once each', () => {
    expect(rules.length).toBeGreaterThan(10);
    for (const { alert, labels, annotations } of rules) {
      expect([alert, labels.severity]).toEqual([
        alert,
        expect.stringMatching(/^(critical|warning)$/),
      ]);
      expect(annotations.summary.length).toBeGreaterThan(20);
    }
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  });

  it('warn when half of the workers of a model are away, not only when all are', () => {
    const exprOf = (name: string) => rules.find(({ alert }) => alert === name)?.expr;
    expect(exprOf('SwitchyardHalfOfWorkersAway')).toMatch(
      /avg by \(model\) \(switchyard_worker_up\) <= 0\.5/,
    );
    expect(exprOf('SwitchyardModelWithoutWorker')).toContain('== 0');
  });

  it('compare times with values that buckets can show', () => {
    const compared = rules.filter(({ expr }) => expr.includes('histogram_quantile'));
    for (const { expr } of compared) {
      const limit = Number(/> ([\d.]+)/.exec(expr)?.[1]);
      const metric = METRICS[metricsOf(expr)[0] as keyof typeof METRICS];
      expect('buckets' in metric && metric.buckets.some(bucket => bucket > limit)).toBe(true);
    }
  });
});
