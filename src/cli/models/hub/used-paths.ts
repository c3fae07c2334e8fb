import { existsSync } from 'node:fs';
import { isAbsolute, resolve } from 'node:path';
import { type ModelSpec } from '../../../platform/config/model-spec.js';
import { type ModelStore } from './model-store.js';

const NAMES_A_PLACE = /(dir|folder|file|path)$/i;

/**
 * Files and folders that the options of a model name, each with the pulled model that it
 * lies in. Options are the engines' own; that one is a path follows from its name
 * (`modelDir`, `caFile`) or its form.
 */
export function usedPaths({ options, command = [] }: ModelSpec, store: ModelStore) {
  // Of a command only what was pulled: its other arguments may mean anything.
  const pulled = command.filter(value => value.includes('/') && store.nameOf(value) !== undefined);
  const named = pulled.map(value => ['commandPath', value] as const);
  return [...textsIn(options), ...named]
    .filter(([option, value]) => isPath(option, value))
    .map(([option, value]) => {
      const path = resolve(value);
      return { option, path, exists: existsSync(path), stored: store.nameOf(path) };
    });
}

const isPath = (option: string, value: string) =>
  value !== '' &&
  !value.includes('://') &&
  (NAMES_A_PLACE.test(option) || isAbsolute(value) || /^\.\.?\//.test(value));

/** Ids of the configured models whose files lie in the folder of a pulled one. */
export const usersOf = (
  name: string,
  models: readonly ModelSpec[],
  store: ModelStore,
): readonly string[] =>
  models
    .filter(model => usedPaths(model, store).some(({ stored }) => stored === name))
    .map(({ id }) => id);

function textsIn(value: object, prefix = ''): [string, string][] {
  return Object.entries(value).flatMap(([key, item]): [string, string][] => {
    if (typeof item === 'string') return [[prefix + key, item]];
    return typeof item === 'object' && item !== null
      ? textsIn(item as object, `${prefix}${key}.`)
      : [];
  });
}
