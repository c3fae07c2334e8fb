import { loadConfig, type LoadedConfig } from '../platform/config/load-config.js';
import { problemText } from '../platform/config/yaml-file.js';
import { command, ONE_DOCUMENT, type EngineChecks } from './shared/command.js';
import {
  checkDatabase,
  checkEngineLibraries,
  checkFfmpeg,
  checkFolder,
  checkModelFiles,
  checkNode,
  checkPackages,
  checkPort,
  checkServer,
} from './doctor-checks.js';
import { type Diagnosis, diagnosisText, passing, failing } from './shared/diagnosis.js';
import { resolve, join } from 'node:path';
import { type ModelSpec } from '../platform/config/model-spec.js';
import { lackingBuildTools, llamaKernels } from './engines/llama-kernels.js';
import { PythonEnvironment } from './engines/python-environment.js';
import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { programFolders } from '../platform/config/process-environment.js';
import { type Settings } from '../platform/config/settings.js';
import { KEY_TEXTS, type Status } from './operate/status.js';
import { type GatewayAnswer } from './shared/gateway-client.js';

const ASK_LIMIT_MS = 2000;

/** Workers in other languages: the program of each `command`. */
async function checkCommands(
  models: readonly ModelSpec[],
): Promise<readonly Diagnosis[]> {
  const local = models.filter(({ command, replicas }) => command && replicas !== 0);
  return Promise.all(
    local.map(async ({ id, command: [program = ''] = [] }) => {
      const found = await programFile(program);
      if (found !== undefined) return passing('command', `${id}: ${found}`);
      const fix = `install it, or change \`command\` of ${id}`;
      return failing('command', `${id}: there is no program ${program}`, fix);
    }),
  );
}

async function programFile(program: string): Promise<string | undefined> {
  const folders = program.includes('/') ? [''] : programFolders();
  for (const folder of folders) {
    const file = folder === '' ? resolve(program) : join(folder, program);
    if (await isProgram(file)) return file;
  }
  return undefined;
}

const isProgram = (file: string) =>
  Promise.all([access(file, constants.X_OK), stat(file)]).then(
    ([, found]) => found.isFile(),
    () => false,
  );

/**
 * What a gateway that runs here says of its keys and its workers; nothing of workers
 * where it asks for a key.
 */
async function checkGateway(server: Settings['server']): Promise<readonly Diagnosis[]> {
  try {
    const status = await asked(server, 'status');
    if (status.status === 401) return [passing('keys', 'required')];
    const { gateway } = (await status.json()) as Status;
    const { data } = (await (
      await asked(server, 'workers')
    ).json()) as GatewayAnswer<'/admin/v1/workers'>;
    const state = gateway.keys === 'ignored' ? 'warn' : 'ok';
    return [
      { what: 'keys', state, detail: KEY_TEXTS[gateway.keys] },
      ...data.flatMap(({ id, problem }) =>
        problem === undefined
          ? []
          : [{ what: 'worker', state: 'fail' as const, detail: `${id}: ${problem}` }],
      ),
    ];
  } catch {
    return [];
  }
}

const asked = ({ host, port }: Settings['server'], what: string) =>
  fetch(`http://${host}:${port}/admin/v1/${what}`, {
    signal: AbortSignal.timeout(ASK_LIMIT_MS),
  });

const MODULE = 'switchyard_worker.ctranslate2';

const STATES = {
  absent: 'not installed',
  damaged: 'incomplete, or its Python is gone',
  outdated: 'of another release of Switchyard',
} as const;

/**
 * The environment of `engines install ctranslate2`, where the command of a model starts
 * with its Python.
 */
function checkPythonWorkers(
  models: readonly ModelSpec[],
  dataDir: string,
): readonly Diagnosis[] {
  const environment = new PythonEnvironment(dataDir);
  const users = models
    .filter(model => usesEnvironment(model, environment))
    .map(({ id }) => id);
  if (users.length === 0) return [];
  const { state, manifest } = environment.state();
  const what = 'ctranslate2';
  if (state === 'ready') {
    const { ctranslate2, python } = manifest!.versions;
    return [passing(what, `${ctranslate2}, Python ${python}, for ${users.join(', ')}`)];
  }
  const detail = `needed by ${users.join(', ')}: ${environment.folder} is ${STATES[state]}`;
  const fix = `switchyard engines install ctranslate2${manifest?.cuda ? ' --cuda' : ''}`;
  return [{ what, state: state === 'outdated' ? 'warn' : 'fail', detail, fix }];
}

const usesEnvironment = ({ command = [] }: ModelSpec, { python }: PythonEnvironment) =>
  command.includes(MODULE) && resolve(command[0] ?? '') === python;

/**
 * Compiled kernels are an offer: they need a compiler, which is named when
 * one accepts it.
 */
async function checkLlamaKernels(
  models: readonly ModelSpec[],
): Promise<readonly Diagnosis[]> {
  if (
    !models.some(
      ({ engine, options }) => engine === 'llama-cpp' && options.device !== 'cuda',
    )
  )
    return [];
  if ((await lackingBuildTools()) !== undefined) return [];
  const what = 'llama.cpp';
  if ((await llamaKernels()) === 'localBuild')
    return [passing(what, 'compiled for this CPU')];
  const detail =
    'prebuilt kernels, which reach 0.65 to 0.8 of kernels compiled for this CPU with several requests';
  return [
    { what, state: 'warn', detail, fix: 'switchyard engines install llama-cpp --native' },
  ];
}

export const doctorCommand = command({
  name: 'doctor',
  about: 'check whether this machine is ready; each problem comes with its fix',
  examples: ['doctor', 'doctor --json | jq \'.checks[] | select(.state == "fail")\''],
  notes:
    'Exit code 1: something that is configured will not work. ! marks what is optional.',
  json: ONE_DOCUMENT,
  async run({ engines }) {
    const checks = await diagnose(engines);
    return { ok: checks.every(({ state }) => state !== 'fail'), checks };
  },
  text: ({ checks }) => checks.map(diagnosisText).join('\n'),
});

/** Every check of this machine and its configuration. */
export async function diagnose(engines: EngineChecks): Promise<readonly Diagnosis[]> {
  const machine = [checkNode(), await checkFfmpeg()];
  let config: LoadedConfig;
  try {
    config = loadConfig({ askEngine: engines.objections });
  } catch (error) {
    const { message: detail } = error as Error;
    const fix = 'change these lines';
    return [...machine, { what: 'configuration', state: 'fail', detail, fix }];
  }
  return [...machine, ...(await configured(config, engines))];
}

async function configured(
  { settings, models, warnings }: LoadedConfig,
  engines: EngineChecks,
): Promise<readonly Diagnosis[]> {
  const valid = `${settings.workers.modelsFile} and every setting are valid`;
  return [
    { what: 'configuration', state: 'ok', detail: valid },
    ...warnings.map((warning): Diagnosis => ({
      what: 'configuration',
      state: 'warn',
      detail: problemText(warning),
    })),
    ...checkEngineLibraries(models),
    ...(await checkPackages(models)),
    ...(await checkCommands(models)),
    ...checkPythonWorkers(models, settings.data.dir),
    ...(await checkLlamaKernels(models)),
    await checkModelFiles(models, settings, engines),
    await checkPort(settings.server),
    ...(await checkGateway(settings.server)),
    await checkFolder('data folder', settings.data.dir),
    await checkFolder('models folder', settings.hub.modelsDir),
    ...(await Promise.all([
      checkServer('redis', settings.redis.url, 'redis.url'),
      checkDatabase(settings),
    ])),
  ];
}
