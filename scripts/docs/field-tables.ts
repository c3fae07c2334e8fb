import {
  type FieldRule,
  type FieldRules,
  PASSED_ON,
} from '../../src/contracts/openai/field-types.js';
import {
  CLIENT_SECRET_FIELDS,
  EVENT_FIELDS,
  OLDER_SESSION_FIELDS,
  REALTIME_QUERY,
  SESSION_FIELDS,
} from '../../src/contracts/realtime/session-fields.js';
import { REQUEST_FIELDS } from '../../src/gateway/http/openapi/request-fields.js';
import { code, table } from './markdown-table.js';

type Groups = Readonly<Record<string, FieldRules>>;

/** What happens to a field, in the words that the page explains. */
function treatmentOf({ treatment, capability = '', byEngine }: FieldRule): string {
  if (treatment !== 'advice' && treatment !== 'meaning') return byEngine ? 'by engine' : treatment;
  const otherwise = treatment === 'advice' ? 'ignored' : 'refused';
  return `${capability === PASSED_ON ? 'upstream' : code(capability)}, else ${otherwise}`;
}

const sentence = (why: string): string =>
  why === '' ? '' : `${why.charAt(0).toUpperCase()}${why.slice(1)}${why.endsWith('.') ? '' : '.'}`;

/** Fewer rows than these are repeated instead of referred to. */
const MIN_SHARED = 8;

const outcomeOf = (rule: FieldRule): string => `${treatmentOf(rule)} | ${sentence(rule.why)}`;

const outcomesOf = (rules: FieldRules): ReadonlyMap<string, string> =>
  new Map(Object.entries(rules).map(([name, rule]) => [name, outcomeOf(rule)]));

/** Fields with the same outcome share a row; those that `other` has alike are one row. */
function fieldTable(
  rules: FieldRules,
  other?: readonly [group: string, rules: FieldRules],
): string {
  const [group, shared] = other ?? ['', {}];
  const known = outcomesOf(shared);
  const rows = new Map<string, string[]>();
  for (const [name, outcome] of outcomesOf(rules)) {
    const row = known.get(name) === outcome ? `as in ${code(group)} | ` : outcome;
    rows.set(row, [...(rows.get(row) ?? []), code(name)]);
  }
  const honoured = rows.size === 1 ? rows.get('honoured | ') : undefined;
  if (honoured) return `Honoured: ${honoured.join(', ')}.`;
  return table(
    ['fields', 'treatment', 'note'],
    [...rows].map(([outcome, names]) => [names.join(', '), ...outcome.split(' | ')]),
  );
}

function sections(groups: Groups): string {
  const named = Object.entries(groups).filter(([, rules]) => Object.keys(rules).length > 0);
  return named
    .map(([name, rules], at) => {
      const other = mostAlike(rules, named.slice(0, at));
      return `### ${code(name)}\n\n${fieldTable(rules, other)}`;
    })
    .join('\n\n');
}

function mostAlike(rules: FieldRules, others: readonly (readonly [string, FieldRules])[]) {
  const own = outcomesOf(rules);
  const alike = ([, other]: readonly [string, FieldRules]) =>
    [...outcomesOf(other)].filter(([name, outcome]) => own.get(name) === outcome).length;
  return others
    .filter(other => alike(other) >= MIN_SHARED)
    .toSorted((a, b) => alike(b) - alike(a))[0];
}

/** Tables of `docs/reference/fields.md`. */
export const fieldTables: Readonly<Record<string, () => string>> = {
  'request-fields': () => sections(REQUEST_FIELDS),
  'realtime-query': () => fieldTable(REALTIME_QUERY),
  'session-fields': () => sections(SESSION_FIELDS),
  'older-session-fields': () => sections(OLDER_SESSION_FIELDS),
  'event-fields': () => sections(EVENT_FIELDS),
  'client-secret-fields': () => fieldTable(CLIENT_SECRET_FIELDS),
};
