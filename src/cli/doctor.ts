import { loadConfig, type LoadedConfig } from '../platform/config/load-config.js';
import { problemText } from '../platform/config/yaml-file.js';
import { command, ONE_DOCUMENT } from './shared/command.js';
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
import { type Diagnosis, diagnosisText } from './shared/diagnosis.js';
import { type EngineChecks } from './shared/engine-checks.js';
import { checkLlamaKernels, checkPythonWorkers } from './doctor-engines.js';
import { checkCommands, checkGateway } from './doctor-workers.js';

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
