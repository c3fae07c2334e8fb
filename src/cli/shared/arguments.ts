import { constants, openAsBlob, readFileSync } from 'node:fs';
import { access } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { InvalidArgumentError } from 'commander';
import { launchDirectory } from '../../platform/config/process-environment.js';
import { usageError } from './cli-error.js';

/** An option that may be repeated: a list, empty without it. */
export const repeatable = (about: string) =>
  [
    `${about}; may be repeated`,
    (value: string, before: readonly string[]): readonly string[] => [...before, value],
    [],
    'none',
  ] as const;

/** Parser of a number from `min` to `max`. */
export const parseNumber = (min: number, max: number) => (text: string) => {
  const value = text.trim() === '' ? NaN : Number(text);
  if (value >= min && value <= max) return value;
  throw new InvalidArgumentError(`must be a number from ${min} to ${max}`);
};

/** Parser of a whole number from `min` to `max`. */
export const parseWholeNumber =
  (min: number, max = Number.MAX_SAFE_INTEGER) =>
  (text: string) => {
    const value = /^-?\d+$/.test(text) ? Number(text) : NaN;
    if (value >= min && value <= max) return value;
    const range = max === Number.MAX_SAFE_INTEGER ? `${min} or more` : `${min} to ${max}`;
    throw new InvalidArgumentError(`must be a whole number, ${range}`);
  };

/** Splits `name=value`. @throws CliError exit code 2, naming `option` */
export function namedValue(option: string, text: string): [name: string, value: string] {
  const at = text.indexOf('=');
  if (at < 1) throw usageError(`${option} ${text}: must be name=value`);
  return [text.slice(0, at), text.slice(at + 1)];
}

/**
 * Where a file that the user named is. @throws CliError exit code 2 when it
 * cannot be read
 */
export const readablePath = (file: string): Promise<string> =>
  accessible(file, constants.R_OK, 'read');

/**
 * Where a file will be written. Checked before the work is done. @throws CliError exit
 * code 2 when its folder is not writable
 */
export const writablePath = (file: string): Promise<string> =>
  accessible(file, constants.W_OK, 'written');

async function accessible(file: string, mode: number, action: string) {
  const path = resolve(launchDirectory(), file);
  try {
    await access(mode === constants.W_OK ? dirname(path) : path, mode);
    return path;
  } catch (cause) {
    const { message } = cause as Error;
    throw usageError(`${file} cannot be ${action}: ${message}`, cause);
  }
}

/** What a file holds, such as a key. @throws CliError exit code 2 with `problem` */
export function secretIn(file: string, problem: string): string {
  try {
    return readFileSync(resolve(launchDirectory(), file), 'utf8').trim();
  } catch (error) {
    throw usageError(`${problem}: ${(error as Error).message}`, error);
  }
}

/** `openAsBlob` does not say what is wrong, so the path is checked first. */
export const fileBlob = async (file: string): Promise<Blob> => openAsBlob(await readablePath(file));
