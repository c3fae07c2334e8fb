import { Command } from 'commander';
import { loadConfig, type LoadedConfig } from '../platform/config/load-config.js';
import { problemText } from '../platform/config/yaml-file.js';
import { type EngineChecks } from './shared/engine-checks.js';
import { EXIT } from './shared/cli-error.js';
import { examples } from './shared/examples.js';
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
import { checkLlamaKernels, checkPythonWorkers } from './doctor-engines.js';
import { checkCommands, checkGateway } from './doctor-workers.js';
import { print, printJson } from './shared/terminal.js';

export const doctorCommand = (engines: EngineChecks): Command =>
  new Command('doctor')
    .description('check whether this machine is ready; each problem comes with its fix')
    .option('--json', 'one JSON document')
    .addHelpText(
      'after',
      examples(
        ['doctor', 'doctor --json | jq \'.checks[] | select(.state == "fail")\''],
        'Exit code 1: something that is configured will not work. ! marks what is optional.',
      ),
    )
    .action(async ({ json }: { json?: boolean }) => {
      const lines = await diagnose(engines);
      const well = lines.every(({ state }) => state !== 'fail');
      if (json) printJson({ ok: well, checks: lines });
      else print(lines.map(diagnosisText).join('\n'));
      if (!well) process.exitCode = EXIT.failed;
    });

/** Every check of this machine and its configuration. */
export async function diagnose(engines: EngineChecks): Promise<readonly Diagnosis[]> {
  const machine = [checkNode(), await checkFfmpeg()];
  let config: LoadedConfig;
  try {
    config = loadConfig({ askEngine: engines.objections });
  } catch (error) {
    const { message } = error as Error;
    return [
      ...machine,
      {
        what: 'configuration',
        state: 'fail',
        detail: message,
        fix: 'change these lines',
      },
    ];
  }
  const { settings, models } = config;
  return [
    ...machine,
    {
      what: 'configuration',
      state: 'ok',
      detail: `${settings.workers.modelsFile} and every setting are valid`,
    },
    ...config.warnings.map((warning): Diagnosis => ({
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
    ...(await checkServers(config)),
  ];
}

/** Servers that Switchyard can do without. */
const checkServers = ({ settings }: LoadedConfig): Promise<readonly Diagnosis[]> =>
  Promise.all([
    checkServer('redis', settings.redis.url, 'redis.url'),
    checkDatabase(settings),
  ]);
