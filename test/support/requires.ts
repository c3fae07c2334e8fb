import { existsSync } from 'node:fs';
import { describe, it } from '@jest/globals';
import { hasBrowser } from './browser.js';
import { hasRedis } from './redis-server.js';

/** Something that a test needs besides the npm packages. */
export interface Requirement {
  /** As the last line of `npm test` names it: a package where there is one. */
  readonly name: string;
  readonly present: boolean;
  /** No package brings it: a test that lacks it is skipped in the gate, too. */
  readonly ofMachine?: boolean;
}

export const REDIS: Requirement = { name: 'redis-server', present: hasRedis };
export const POSTGRES: Requirement = {
  name: 'postgresql',
  present: existsSync('/usr/lib/postgresql'),
};
export const CONSOLE: Requirement = {
  name: 'console/node_modules',
  present: existsSync('console/node_modules'),
};
export const BROWSER: Requirement = { name: 'chromium', present: hasBrowser };

/** `describe`, or a skipped one whose title names what is missing. */
export function describeWith(
  ...requirements: readonly Requirement[]
): (title: string, body: () => void) => void {
  const needs = missing(requirements);
  return needs === '' ? describe : (title, body) => describe.skip(`${title} ${needs}`, body);
}

/** `it`, or a skipped one whose title names what is missing. */
export function itWith(
  ...requirements: readonly Requirement[]
): (title: string, body: () => void | Promise<void>, timeoutMs?: number) => void {
  const needs = missing(requirements);
  return needs === '' ? it : (title, body) => it.skip(`${title} ${needs}`, body);
}

function missing(requirements: readonly Requirement[]): string {
  const lacking = requirements.filter(({ present }) => !present);
  const names = lacking.map(({ name }) => name).join(', ');
  if (lacking.length === 0) return '';
  return lacking.every(({ ofMachine }) => ofMachine) ? `[no ${names}]` : `[needs ${names}]`;
}
