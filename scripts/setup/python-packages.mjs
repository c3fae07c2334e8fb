import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { command, inRoot, lastLines } from './command.mjs';
import { doing, done, warn } from './report.mjs';

/** Of the pinned packages of workers/python, those that it needs for any engine. */
const NEEDED = /^(grpcio|grpcio-health-checking|protobuf|typing-extensions)==/;

/**
 * A Python with what workers/python needs, kept for the next run.
 * @returns its interpreter, which lacks the packages where they cannot be installed
 */
export async function ensureWorkerPython({ install = true } = {}) {
  const folder = inRoot('node_modules/.cache/switchyard-worker-python');
  const python = join(folder, 'bin', 'python');
  const complete = async () =>
    (await command(python, ['-c', 'import grpc_health.v1.health'])).code === 0;
  if (await complete()) {
    done('Python packages', 'of workers/python');
    return python;
  }
  if (!install) return 'python3';
  doing('pip install', 'what workers/python needs');
  if (!existsSync(python)) await command('python3', ['-m', 'venv', folder]);
  const pinned = readFileSync(inRoot('workers/python/requirements/ctranslate2.txt'), 'utf8');
  const requirements = join(folder, 'requirements.txt');
  const needed = pinned.split(/\n(?=\S)/).filter(entry => NEEDED.test(entry));
  writeFileSync(requirements, needed.join('\n'));
  const options = ['--quiet', '--disable-pip-version-check', '--require-hashes'];
  const pip = ['-m', 'pip', 'install', ...options, '-r', requirements];
  const { code, output } = await command(python, pip);
  if (code !== 0) {
    warn(`The packages of workers/python cannot be installed: ${lastLines(output)}`);
    return 'python3';
  }
  done('Python packages', 'installed');
  return python;
}
