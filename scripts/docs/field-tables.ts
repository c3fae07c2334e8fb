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

/** What becomes of a field, in words. */
function treatmentOf({ treatment, capability = '', byEngine }: FieldRule): string {
  if (treatment === 'ignored') return 'ignored, with notice';
  if (treatment !== 'advice' && treatment !== 'meaning')
    return byEngine ? 'honoured by the engine' : treatment;
  const otherwise = treatment === 'advice' ? 'ignored, with notice' : 'refused';
  const able = capability === PASSED_ON ? 'upstream servers' : `models with ${code(capability)}`;
  return `honoured by ${able}, else ${otherwise}`;
}

const sentence = (why: string): string =>
  why === '' ? '' : `${why.charAt(0).toUpperCase()}${why.slice(1)}${why.endsWith('.') ? '' : '.'}`;

const fieldTable = (rules: FieldRules): string =>
  table(
    ['field', 'treatment', 'why, or how far'],
    Object.entries(rules).map(([name, rule]) => [
      code(name),
      treatmentOf(rule),
      sentence(rule.why),
    ]),
  );

const sections = (groups: Groups): string =>
  Object.entries(groups)
    .filter(([, rules]) => Object.keys(rules).length > 0)
    .map(([name, rules]) => `### ${code(name)}\n\n${fieldTable(rules)}`)
    .join('\n\n');

/** Names of fields by what becomes of them, where the route has any. */
export function compatibility(): string {
  const rows = Object.entries(REQUEST_FIELDS).filter(([route]) => route.startsWith('POST'));
  const named = (rules: FieldRules, ...treatments: readonly string[]) =>
    Object.entries(rules)
      .filter(([, { treatment }]) => treatments.includes(treatment))
      .map(([name]) => code(name))
      .join(', ');
  return table(
    ['route', 'honoured', 'by model', 'reported', 'refused'],
    rows.map(([route, rules]) => [
      code(route.replace('POST ', '')),
      named(rules, 'honoured'),
      named(rules, 'advice', 'meaning'),
      named(rules, 'ignored'),
      named(rules, 'refused'),
    ]),
  );
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
