import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { command, inRoot, lastLines } from './command.mjs';
import { doing, done, SetupError, warn } from './report.mjs';

/**
 * Of workers/python/pyproject.toml: its `ctranslate2` extra, and what writes the models.
 */
const NEEDED = [
  'faster-whisper==1.2.1',
  'ctranslate2==4.8.5',
  'numpy==2.4.6',
  'onnx==1.23.2',
  'grpcio==1.85.1',
  'grpcio-health-checking==1.85.1',
  'protobuf==7.36.2',
  'pytest==9.2.0',
];
/** What the bench compares with, where it can be installed. */
const PEERS = [
  {
    name: 'transformers on torch',
    imports: 'torch, transformers',
    packages: ['torch', 'transformers'],
  },
  {
    name: 'whisper.cpp',
    imports: 'pywhispercpp.model',
    packages: ['pywhispercpp==1.5.1'],
  },
];

/**
 * A Python with CTranslate2, and with the peers that can be installed, kept for
 * the next run.
 * @returns its interpreter. @throws SetupError without CTranslate2
 */
export async function ensureWhisperPython() {
  const folder = inRoot('node_modules/.cache/switchyard-whisper-python');
  const python = join(folder, 'bin', 'python');
  const install = packages =>
    command(python, [
      '-m',
      'pip',
      'install',
      '--quiet',
      '--disable-pip-version-check',
      ...packages,
    ]);
  if (!existsSync(python)) {
    doing('Python', 'a virtual environment with CTranslate2');
    const made = await command('python3', ['-m', 'venv', folder]);
    if (made.code !== 0) throw new SetupError(`python3 -m venv failed: ${lastLines(made.output)}`);
  }
  const needed = await install(NEEDED);
  if (needed.code !== 0)
    throw new SetupError(`CTranslate2 cannot be installed: ${lastLines(needed.output)}`);
  for (const { name, imports, packages } of PEERS) {
    if ((await command(python, ['-c', `import ${imports}`])).code === 0) continue;
    doing('Python', `${name}, once`);
    const peer = await install(packages);
    if (peer.code !== 0) warn(`No comparison with ${name}: ${lastLines(peer.output)}`);
  }
  done('Python', 'installed');
  return python;
}
