import { ownName } from '@switchyard/engine-api/own-name.js';
import { dim, MARKS } from './terminal.js';

/** One finding of the doctor. */
export interface Diagnosis {
  readonly what: string;
  /** `warn`: works without; `fail`: something that is configured will not. */
  readonly state: 'ok' | 'warn' | 'fail';
  readonly detail: string;
  /** The command or change that repairs it. */
  readonly fix?: string | undefined;
}

const diagnosing =
  (state: Diagnosis['state']) =>
  (what: string, detail: string, fix?: string): Diagnosis => ({
    what,
    state,
    detail,
    fix,
  });

export const passing = diagnosing('ok');
export const warning = diagnosing('warn');
export const failing = diagnosing('fail');

export const diagnosesText = (answer: { readonly checks: readonly Diagnosis[] }): string =>
  answer.checks.map(lineOf).join('\n');

const lineOf = ({ what, state, detail, fix }: Diagnosis) =>
  `${MARKS[state]} ${what.padEnd(14)} ${detail}${fix ? `\n${' '.repeat(17)}${dim('→')} ${fix.replace(/^switchyard /, `${ownName()} `)}` : ''}`;
