import { writeSync } from 'node:fs';
import { inspect } from 'node:util';
import { redacted } from '../config/redaction.js';

const STDERR = 2;

/**
 * An error that nothing caught, a rejected promise included, ends this process as
 * without this. What Node prints of it holds the fields of the error, such as a command
 * with its password.
 */
export function redactCrashes(): void {
  process.once('uncaughtException', error => {
    writeSync(STDERR, `${redacted(inspect(error))}\n`);
    process.exit(1);
  });
}
