import { delimiter } from 'node:path';
import { Argument, Command } from 'commander';
import { loadConfig } from '../platform/config/load-config.js';
import { foreignEnvironment } from '@switchyard/engine-api/process/foreign-environment.js';
import { EXIT, interruptible } from './shared/cli-error.js';
import { examples } from './shared/examples.js';
import { diagnosisText } from './shared/diagnosis.js';
import { checkGpu, type GpuReport } from './engines/gpu-check.js';
import { GPU_PARTS, type GpuPart, installGpu } from './engines/gpu-install.js';
import { PythonEnvironment } from './engines/python-environment.js';
import { print, printJson, say } from './shared/terminal.js';

interface InstallOptions {
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

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

export const gpuCommand = (): Command =>
  new Command('gpu')
    .description('GPU: check, install')
    .addCommand(
      new Command('check')
        .description(
          'driver, CUDA, cuDNN and the engines that compute on a GPU; each problem comes with its repair',
        )
        .option('--json', 'one JSON document')
        .addHelpText(
          'after',
          examples(['gpu check', 'gpu check --json'], CHECK_HELP.trim()),
        )
        .action(async ({ json }: { json?: boolean }) => {
          const report = await gpuReport();
          if (json) printJson(report);
          else print(report.checks.map(diagnosisText).join('\n'));
          if (!report.ok) process.exitCode = EXIT.failed;
        }),
    )
    .addCommand(
      new Command('install')
        .description('the GPU libraries of llama.cpp')
        .addArgument(
          new Argument('[parts...]', 'what to install').choices(Object.keys(GPU_PARTS)),
        )
        .option('--dry-run', 'only list what would be done')
        .option('--json', 'the steps of each part as one JSON document')
        .addHelpText(
          'after',
          examples(
            ['gpu install', 'gpu install llama-cpp --dry-run'],
            INSTALL_HELP.trim(),
          ),
        )
        .action((parts: GpuPart[], options: InstallOptions) =>
          interruptible(signal => install(parts, options, signal)),
        ),
    );

async function install(
  parts: readonly GpuPart[],
  { dryRun = false, json }: InstallOptions,
  signal: AbortSignal,
): Promise<void> {
  const done: { part: GpuPart; steps: readonly string[] }[] = [];
  for (const part of parts.length > 0 ? parts : DEFAULT_PARTS) {
    const steps: string[] = [];
    const report = (text: string): void => (say(text), void steps.push(text.trim()));
    await installGpu(part, { dryRun, report, signal });
    done.push({ part, steps });
  }
  if (json) printJson({ dry_run: dryRun, parts: done });
}

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
