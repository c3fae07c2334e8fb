import { readdirSync } from 'node:fs';

export const SPECS = /\.spec\.ts$/;
/** TypeScript that is no spec. */
export const SOURCES = /(?<!\.spec)\.ts$/;

/** Paths below the folders; without installed packages and generated code. */
export const filesBelow = (folders: readonly string[], matching: RegExp): string[] =>
  folders
    .flatMap(folder =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' }).map(name => `${folder}/${name}`),
    )
    .filter(path => matching.test(path) && !/node_modules|\/generated\//.test(path));
