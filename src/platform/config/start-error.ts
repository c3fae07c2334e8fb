import { inspect } from 'node:util';
import { redacted } from './redaction.js';

/**
 * Why a process cannot start: the cause, the file or setting, and the repair. Its message
 * is printed without a stack.
 */
export class StartError extends Error {
  override readonly name: string = 'StartError';
}

/**
 * What an operator reads when a process cannot start; a mistake of ours has its stack
 * and its causes.
 */
export const startErrorText = (error: unknown): string =>
  redacted(error instanceof StartError ? error.message : inspect(error));
