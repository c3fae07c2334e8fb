import { readFileSync } from 'node:fs';

/** From package.json, three folders above this file, built or not. */
export function productVersion(): string {
  const text = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
