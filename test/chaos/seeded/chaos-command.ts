import { execFile } from 'node:child_process';

interface Run {
  readonly code: number;
  readonly output: string;
}

/** `npm run chaos`, with the build that is there. */
export const MAIN = [
  '--import',
  './test/support/typescript-loader.mjs',
  'test/chaos/seeded/main.ts',
];

/** Resolves when it has ended. */
export const chaos = (...args: readonly string[]): Promise<Run> =>
  new Promise(resolve => {
    execFile(process.execPath, [...MAIN, ...args], (error, stdout, stderr) =>
      resolve({
        code: typeof error?.code === 'number' ? error.code : error ? 1 : 0,
        output: stderr + stdout,
      }),
    );
  });

/** @throws Error with what it said, unless every episode passed */
export async function expectPassed(...args: readonly string[]): Promise<void> {
  const { code, output } = await chaos(...args);
  if (code !== 0) throw new Error(output);
}
