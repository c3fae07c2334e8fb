import { delimiter } from 'node:path';
import { loadConfig } from '../platform/config/load-config.js';
import { foreignEnvironment } from '@switchyard/engine-api/process/foreign-environment.js';
import { command, commandGroup, ONE_DOCUMENT } from './shared/command.js';
import { diagnosisText } from './shared/diagnosis.js';
import { checkGpu, type GpuReport } from './engines/gpu-check.js';
import { GPU_PARTS, type GpuPart, installGpu } from './engines/gpu-install.js';
import { PythonEnvironment } from './engines/python-environment.js';
import { say } from './shared/terminal.js';

const DEFAULT_PARTS: readonly GpuPart[] = ['llama-cpp'];

const CHECK_HELP = `
Exit code 0: everything that is listed works on the GPU of this machine. Exit code 1: something is missing, the GPU
itself included; each line names its repair. Libraries are looked up as an engine does, LD_LIBRARY_PATH included.`;

const INSTALL_HELP = `
${Object.entries(GPU_PARTS)
  .map(([name, { megabytes }]) => `${name.padEnd(17)} ${megabytes} MB of downloads`)
  .join('\n')}

Puts the GPU libraries of llama.cpp into node_modules. npm ci removes them: run this again. The driver, CUDA and cuDNN
are not installed; switchyard gpu check names what is missing.`;

const check = command({
  name: 'check',
  about:
    'driver, CUDA, cuDNN and the engines that compute on a GPU; each problem comes with its repair',
  examples: ['gpu check', 'gpu check --json'],
  notes: CHECK_HELP.trim(),
  json: ONE_DOCUMENT,
  run: () => gpuReport(),
  text: ({ checks }) => checks.map(diagnosisText).join('\n'),
});

const install = command({
  name: 'install',
  about: 'the GPU libraries of llama.cpp',
  arg: ['[parts...]', 'what to install', Object.keys(GPU_PARTS)],
  examples: ['gpu install', 'gpu install llama-cpp --dry-run'],
  notes: INSTALL_HELP.trim(),
  options: { '--dry-run': 'only list what would be done' },
  json: 'the steps of each part as one JSON document',
  async run({ arg, options: { dryRun = false }, signal }) {
    const parts: { part: string; steps: readonly string[] }[] = [];
    for (const part of arg.length > 0 ? arg : DEFAULT_PARTS) {
      const steps: string[] = [];
      const report = (text: string): void => {
        say(text);
        steps.push(text.trim());
      };
      await installGpu(part as GpuPart, { dryRun, report, signal });
      parts.push({ part, steps });
    }
    return { dry_run: dryRun, parts };
  },
});

export const gpuCommand = commandGroup('gpu', 'GPU: check, install', [check, install]);

/** What `switchyard gpu check` reads on this machine. */
export function gpuReport(): Promise<GpuReport> {
  const libraryFolders = (foreignEnvironment({}).LD_LIBRARY_PATH ?? '')
    .split(delimiter)
    .filter(Boolean);
  return checkGpu({
    libraryFolders,
    python: new PythonEnvironment(loadConfig().settings.data.dir),
  });
}
