import { createInterface } from 'node:readline/promises';
import { CliError, EXIT } from './cli-error.js';

/** Asks on the terminal. */
export async function ask(question: string): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await terminal.question(`${question} [y/N] `);
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    terminal.close();
  }
}

/**
 * Asks on the terminal. @throws CliError for any answer but yes (`refused`), and
 * without a terminal
 */
export async function confirm(question: string, refused: string): Promise<void> {
  if (!process.stdin.isTTY) throw new CliError('not a terminal; pass --yes', EXIT.usage);
  if (!(await ask(question))) throw new CliError(refused);
}
