import { spawn, type SpawnOptions } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import { join } from 'node:path';
import { PRODUCT_FOLDER } from './engines/command.js';

/**
 * Runs a program of this product on this terminal. Ctrl-C reaches the whole group by the
 * terminal; the child drains, so this process has to outlive it.
 * @param file relative to the folder of the product
 * @returns its exit code
 */
export async function runProgram(
  file: string,
  args: readonly string[],
  options: Pick<SpawnOptions, 'cwd' | 'env'> = {},
): Promise<number> {
  const child = spawn(process.execPath, [join(PRODUCT_FOLDER, file), ...args], {
    ...options,
    stdio: 'inherit',
  });
  process.on('SIGINT', () => undefined);
  for (const signal of ['SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => child.kill(signal));
  const [code, signal] = (await once(child, 'exit')) as [
    number | null,
    NodeJS.Signals | null,
  ];
  return code ?? 128 + constants.signals[signal!];
}
