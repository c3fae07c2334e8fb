import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { waitUntilNamed, waitUntilReady } from './gateway-probe.mjs';
import { GatewayProcess } from './gateway-process.mjs';
import { ensureBuild, ensureConsole } from './setup/build.mjs';
import { command, inRoot } from './setup/command.mjs';
import { ensureDebianPackages } from './setup/engine-packages.mjs';
import { stopWithNpm } from './setup/npm-parent.mjs';
import { ensurePackages, nodeBinary } from './setup/packages.mjs';
import { bold, dim, doing, done, runMain, say, SetupError, warn } from './setup/report.mjs';
import { serveCluster } from './up-cluster.mjs';
import { examples } from './up-examples.mjs';

const HELP = `npm run up [-- OPTIONS]

Installs what is missing, builds, starts the gateway with its workers and prints what to try. Ctrl-C drains and stops.

  --port N       listen on port N instead of server.port (8000)
  --host ADDR    listen on ADDR instead of server.host (127.0.0.1)
  --models M     what is fetched beside the running gateway: starter (default in a clone; Moonshine tiny, a voice, Whisper
                 base and SmolLM2 135M, 0.9 GB with the Python environment of Whisper), none, or comma-separated names of the catalogue
  --no-install   install nothing; say what is missing
  --run          start what is installed and built, with the configuration of this folder
  --topology T   single (default): one gateway with its workers
                 cluster: Redis, PostgreSQL, gateways behind a proxy, workers and batch processors, each a process
  --help         this text

For a cluster: --gateways 2, --workers 2 (of each model), --processors 2, --data DIR (data/cluster; logs are in it).

Settings: config/switchyard.yaml, or SWITCHYARD_... variables; npm run config:print shows what is in effect.`;

const READY_LIMIT_MS = 60_000;
/** The first models of the starter set bring them. */
const FIRST_NAMES = ['tts-1', 'whisper-1'];

await runMain(async () => {
  const options = readArguments();
  if (options.help) return void console.log(HELP);
  if (!options.run) await prepare(options);
  const settings = await effectiveSettings(options);
  await refuseTakenPort(settings, options.run ? 'switchyard up' : 'npm run up --');
  stopWithNpm();
  if (!options.cluster) return serve(settings, options);
  const lacking = await ensureDebianPackages('cluster', options);
  if (lacking.length > 0) throw new SetupError(`A cluster needs ${lacking.join(' and ')}.`);
  return serveCluster(settings, options.cluster, READY_LIMIT_MS);
});

async function prepare(options) {
  await ensurePackages(options);
  await ensureDebianPackages('engine', options);
  await ensureBuild();
  await ensureConsole(options);
}

function readArguments() {
  const { values } = parseArgs({
    options: {
      port: { type: 'string' },
      host: { type: 'string' },
      models: { type: 'string' },
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
  const fetches = !run && !values['no-install'] && values.topology === 'single';
  return {
    help,
    run,
    install: !values['no-install'],
    environment,
    models: values.models ?? (fetches ? 'starter' : 'none'),
    cluster: clusterSizes(values),
  };
}

/** Undefined: one gateway. */
function clusterSizes({ topology, data, ...values }) {
  if (topology === 'single') return undefined;
  if (topology !== 'cluster')
    throw new SetupError(`--topology must be single or cluster, not ${topology}`);
  const sizes = ['gateways', 'workers', 'processors'].map(name => {
    const size = Number(values[name]);
    if (!Number.isInteger(size) || size < 1)
      throw new SetupError(`--${name} must be a number from 1, not ${values[name]}`);
    return [name, size];
  });
  return { ...Object.fromEntries(sizes), data };
}

/**
 * Asks the product itself, so that file, environment and arguments are judged by
 * the same rules.
 */
async function effectiveSettings({ environment }) {
  const cwd = process.cwd();
  const env = { ...process.env, ...environment };
  const { code, output } = await command(
    nodeBinary(),
    [inRoot('dist/main.cli.js'), 'config', 'print', '--json'],
    { env, cwd },
  );
  if (code !== 0) throw new SetupError(output.trim().replace(/^✗ /, ''));
  const { settings, models } = JSON.parse(output);
  const value = path => settings.find(setting => setting.path === path).value;
  // A person sees warnings; who wants every request sets `logging.level`.
  const level = settings.find(({ path }) => path === 'logging.level');
  if (level.value === level.default && env[level.env] === undefined) env[level.env] = 'warn';
  return {
    ...{ env, cwd, models },
    host: value('server.host'),
    port: value('server.port'),
    docs: value('server.docs'),
    keyed: Boolean(value('auth.keys_file') || value('auth.key')),
    graceMs: value('server.shutdown_grace_ms'),
    modelsFile: value('workers.models_file'),
  };
}

async function refuseTakenPort({ host, port }, up) {
  if (port === 0) throw new SetupError('--port 0 would take an unknown port; name one');
  // Compiled by now: the gateway's own check, so that both say the same.
  const { explainListenProblem } = await import(inRoot('dist/main.scripts.js'));
  const problem = await explainListenProblem({ host, port }, other => `${up} --port ${other}`);
  if (problem) throw new SetupError(problem);
}

async function serve(settings, options) {
  const { models } = options;
  say('');
  const gateway = new GatewayProcess(nodeBinary(), settings);
  const base = `http://${urlHost(settings.host)}:${settings.port}`;
  const { stopping } = gateway;
  const limits = { limitMs: READY_LIMIT_MS, stopping };
  const serving = await waitUntilReady(base, { ...limits, models: [] });
  if (stopping.aborted) return gateway.exitCode;
  if (!serving.ready) {
    warn(`The gateway does not answer on ${base}; its log says why. Ctrl-C stops it.`);
    return gateway.exitCode;
  }
  // The first key of the database makes keys required, whatever the settings say.
  const keyed = settings.keyed || (await fetch(`${base}/v1/models`)).status === 401;
  const areComing = settings.models.length === 0;
  if (!areComing) sayReady(base, serving.detail);
  else if (models === 'none') warn(await noModel(base, settings));
  else say(`\n${bold('Switchyard runs')} on ${base}, and is ready when the first models are there`);
  const calls = examples(base, { ...settings, keyed });
  say(whatToTry(base, settings, calls));
  if (!areComing) await reportModels(base, limits);
  if (models !== 'none' && !stopping.aborted) {
    const now = async () => examples(base, { ...(await effectiveSettings(options)), keyed });
    await bringModels(options, { base, settings, stopping, areComing, calls, now });
  }
  return gateway.exitCode;
}

function sayReady(base, detail) {
  say(`\n${bold('Switchyard is ready')} on ${base}`);
  if (detail) say(dim(`${detail}; requests wait until their model is loaded`));
}

async function reportModels(base, limits) {
  const { ready, detail } = await waitUntilReady(base, limits);
  if (limits.stopping.aborted) return;
  if (ready) done('models', 'all are loaded');
  else warn(`Not every model is ready: ${detail}`);
}

/**
 * Says that it is ready when there are models for the first calls of the README, and what
 * else there is to try at the end.
 */
async function bringModels({ models }, { base, settings, stopping, areComing, calls, now }) {
  const fetched = fetchModels(models, base, settings, stopping);
  let shown = calls;
  if (areComing) {
    const end = new AbortController();
    const ended = AbortSignal.any([stopping, end.signal]);
    await Promise.race([fetched, waitUntilNamed(base, FIRST_NAMES, ended)]);
    end.abort();
    shown = await now();
    if (shown !== '' && !stopping.aborted) {
      sayReady(base);
      say(`\n${shown}`);
    }
  }
  await fetched;
  const last = await now();
  if (stopping.aborted) return;
  if (last === '') warn(await noModel(base, settings));
  else if (last !== shown) say(`\n${last}`);
}

/** Beside the gateway, which serves meanwhile. Each problem is a line of its own. Resolves at its end. */
async function fetchModels(models, base, { cwd, env }, stopping) {
  doing(`models  ${models}`, '--models none fetches nothing');
  const names = models === 'starter' ? [] : models.split(',');
  const child = spawn(
    nodeBinary(),
    [inRoot('dist/main.cli.js'), 'models', 'starter', ...names, '--yes', '--url', base],
    { cwd, env, stdio: ['ignore', 'ignore', 'pipe'] },
  );
  // No terminal: its progress is lines between those of the gateway's log.
  child.stderr.pipe(process.stderr);
  stopping.addEventListener('abort', () => {
    // Who stops knows that what is fetched is broken off: the next start goes on.
    child.stderr.unpipe(process.stderr).resume();
    child.kill();
  });
  await once(child, 'exit');
}

/** An address that listens everywhere cannot be called by that name. */
function urlHost(host) {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}

/** The steps are those of `switchyard init`. */
async function noModel(base, { cwd, modelsFile }) {
  const { firstModelSteps } = await import(inRoot('dist/main.scripts.js'));
  return `Switchyard runs on ${base}, but no model is configured in ${resolve(cwd, modelsFile)}.
Add one, in another terminal and in this folder:
${firstModelSteps().join('\n')}`;
}

function whatToTry(base, settings, calls) {
  const docs = settings.docs ? { 'Swagger UI': '/docs' } : {};
  const others = {
    models: '/v1/models',
    metrics: '/metrics',
    requests: '/admin/v1/requests',
  };
  const pages = Object.entries({ console: '/console', ...docs, ...others });
  return `
${calls && `${calls}\n`}${pages.map(([name, path]) => `  ${name.padEnd(11)} ${base}${path}`).join('\n')}

  ${dim('Ctrl-C drains and stops.')}
`;
}
