import { resolve } from 'node:path';
import { type ModelSpec } from '../platform/config/model-spec.js';
import { type Diagnosis, passing } from './shared/diagnosis.js';
import { type RunCommand, runCommand } from './engines/command.js';
import { lackingBuildTools, llamaKernels } from './engines/llama-kernels.js';
import { PythonEnvironment } from './engines/python-environment.js';

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
export function checkPythonWorkers(
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

const usesEnvironment = (
  { command = [] }: ModelSpec,
  { python }: PythonEnvironment,
): boolean => command.includes(MODULE) && resolve(command[0] ?? '') === python;

/**
 * Compiled kernels are an offer: they need a compiler, which is named when
 * one accepts it.
 */
export async function checkLlamaKernels(
  models: readonly ModelSpec[],
  run: RunCommand = runCommand,
): Promise<readonly Diagnosis[]> {
  if (
    !models.some(
      ({ engine, options }) => engine === 'llama-cpp' && options.device !== 'cuda',
    )
  )
    return [];
  if ((await lackingBuildTools(run)) !== undefined) return [];
  const what = 'llama.cpp';
  if ((await llamaKernels(run)) === 'localBuild')
    return [passing(what, 'compiled for this CPU')];
  const detail =
    'prebuilt kernels, which reach 0.65 to 0.8 of kernels compiled for this CPU with several requests';
  return [
    { what, state: 'warn', detail, fix: 'switchyard engines install llama-cpp --native' },
  ];
}
