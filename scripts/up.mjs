import { parseArgs } from 'node:util';
import { ensureBuild, ensureConsole } from './setup/build.mjs';
import { command, inRoot, ROOT } from './setup/command.mjs';
import { ensureClusterPackages, ensureEnginePackages } from './setup/engine-packages.mjs';
import { ensurePackages, nodeBinary } from './setup/packages.mjs';
import { bold, dim, runMain, say, SetupError, warn } from './setup/report.mjs';
import { GatewayProcess } from './gateway-process.mjs';
import { serveCluster } from './up-cluster.mjs';
import { waitUntilReady } from './gateway-probe.mjs';
import { stopWithNpm } from './setup/npm-parent.mjs';

const HELP = `npm run up [-- OPTIONS]

Installs what is missing, builds, starts the gateway with its workers and prints what to try. Ctrl-C drains and stops.

  --port N       listen on port N instead of server.port (8000)
  --host ADDR    listen on ADDR instead of server.host (127.0.0.1)
  --no-install   install nothing; say what is missing
  --run          start what is installed and built, with the configuration of this folder
  --topology T   single (default): one gateway with its workers
                 cluster: Redis, PostgreSQL, gateways behind a proxy, workers and batch processors, each a process
  --help         this text

For a cluster: --gateways 2, --workers 2 (of each model), --processors 2, --data DIR (data/cluster; logs are in it).

Settings: config/switchyard.yaml, or SWITCHYARD_... variables; npm run config:print shows what is in effect.`;

/** With an engine missing its model never gets ready: no need to wait for it as long. */
const READY_LIMIT_MS = 60_000;
const READY_LIMIT_WITHOUT_ENGINE_MS = 10_000;

await runMain(async () => {
  const options = readArguments();
  if (options.help) return void console.log(HELP);
  const missing = options.run ? [] : await prepared(options);
  const settings = await effectiveSettings(options);
  await refuseTakenPort(settings, options.run ? 'switchyard up' : 'npm run up --');
  stopWithNpm();
  const limitMs = missing.length > 0 ? READY_LIMIT_WITHOUT_ENGINE_MS : READY_LIMIT_MS;
  if (!options.cluster) return serve(settings, limitMs);
  const lacking = await ensureClusterPackages(options);
  if (lacking.length > 0) throw new SetupError(`A cluster needs ${lacking.join(' and ')}.`);
  return serveCluster(settings, options.cluster, limitMs);
});

/** @returns the engine packages that are missing */
async function prepared(options) {
  await ensurePackages(options);
  const missing = await ensureEnginePackages(options);
  await ensureBuild();
  await ensureConsole(options);
  return missing;
}

function readArguments() {
  const { values } = parseArgs({
    options: {
      port: { type: 'string' },
      host: { type: 'string' },
      'no-install': { type: 'boolean', default: false },
      run: { type: 'boolean', default: false },
      topology: { type: 'string', default: 'single' },
      gateways: { type: 'string', default: '2' },
      workers: { type: 'string', default: '2' },
      processors: { type: 'string', default: '2' },
      data: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  const environment = {
    ...(values.port && { SWITCHYARD_SERVER_PORT: values.port }),
    ...(values.host && { SWITCHYARD_SERVER_HOST: values.host }),
  };
  const { help, run } = values;
  return { help, run, install: !values['no-install'], environment, cluster: clusterSizes(values) };
}

/** Undefined: one gateway. */
function clusterSizes({ topology, data, ...values }) {
  if (topology === 'single') return undefined;
  if (topology !== 'cluster') throw new SetupError(`--topology must be single or cluster, not ${topology}`);
  const sizes = ['gateways', 'workers', 'processors'].map(name => {
    const size = Number(values[name]);
    if (!Number.isInteger(size) || size < 1)
      throw new SetupError(`--${name} must be a number from 1, not ${values[name]}`);
    return [name, size];
  });
  return { ...Object.fromEntries(sizes), data };
}

/** Asks the product itself, so that file, environment and arguments are judged by the same rules. */
async function effectiveSettings({ environment, run }) {
  const cwd = run ? process.cwd() : ROOT;
  const env = { ...process.env, ...environment };
  const { code, output } = await command(
    nodeBinary(),
    [inRoot('dist/cli/switchyard.js'), 'config', 'print', '--json'],
    { env, cwd },
  );
  if (code !== 0) throw new SetupError(output.trim().replace(/^✗ /, ''));
  const value = path => JSON.parse(output).settings.find(setting => setting.path === path).value;
  return {
    ...{ env, cwd },
    host: value('server.host'),
    port: value('server.port'),
    docs: value('server.docs'),
    graceMs: value('server.shutdown_grace_ms'),
    modelsFile: value('workers.models_file'),
  };
}

async function refuseTakenPort({ host, port }, up) {
  if (port === 0) throw new SetupError('--port 0 would take an unknown port; name one');
  // Compiled by now: the gateway's own check, so that both say the same.
  const { explainListenProblem } = await import(inRoot('dist/platform/process/listen-check.js'));
  const problem = await explainListenProblem({ host, port }, other => `${up} --port ${other}`);
  if (problem) throw new SetupError(problem);
}

async function serve(settings, limitMs) {
  say('');
  const gateway = new GatewayProcess(nodeBinary(), settings);
  const base = `http://${urlHost(settings.host)}:${settings.port}`;
  const readiness = await waitUntilReady(base, limitMs, gateway.stopping);
  if (readiness.ready) say(`\n${bold('Switchyard is ready')} on ${base}`);
  else if (!gateway.stopping.aborted) warn(`\nNot every model is ready: ${readiness.detail}`);
  if (!gateway.stopping.aborted) say(whatToTry(base, settings));
  return gateway.exitCode;
}

/** An address that listens everywhere cannot be called by that name. */
function urlHost(host) {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}

function whatToTry(base, { docs }) {
  const speech = `'{"model":"tts-1","voice":"alloy","input":"Every request has a place in the queue."}'`;
  return `
  ${bold('speak')}       curl ${base}/v1/audio/speech -H 'content-type: application/json' \\
                -d ${speech} -o hello.mp3
  ${bold('transcribe')}  curl ${base}/v1/audio/transcriptions -F file=@hello.mp3 -F model=whisper-1

  console     ${base}/console
  ${docs ? `Swagger UI  ${base}/docs\n  ` : ''}models      ${base}/v1/models
  metrics     ${base}/metrics
  requests    ${base}/admin/v1/requests

  ${dim('Ctrl-C drains and stops.')}
`;
}
