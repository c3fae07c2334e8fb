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
import { code, list } from './markdown.js';

type Groups = Readonly<Record<string, FieldRules>>;

/** What happens to a field, in the words that the page explains. */
function treatmentOf({ treatment, capability = '', byEngine }: FieldRule): string {
  if (treatment !== 'advice' && treatment !== 'meaning') return byEngine ? 'by engine' : treatment;
  const otherwise = treatment === 'advice' ? 'ignored' : 'refused';
  const by = capability === PASSED_ON ? 'upstream servers' : `models with ${code(capability)}`;
  return `${by}, else ${otherwise}`;
}

const sentence = (why: string): string =>
  why === '' ? '' : `${why.charAt(0).toUpperCase()}${why.slice(1)}${why.endsWith('.') ? '' : '.'}`;

/** Fewer fields with an explanation than these are repeated instead of referred to. */
const MIN_EXPLAINED = 2;

/** The outcome of a field that needs no explanation. */
const PLAIN = 'honoured. ';

/** How many outcomes begin; what differs behind it is a note. */
const LEAD = 'by engine. Beyond OpenAI';

/** The page says that a field acts unless something else is said. */
function outcomeOf(rule: FieldRule): string {
  const [treatment, why] = [`${treatmentOf(rule)}. `, sentence(rule.why)];
  return treatment === PLAIN && why ? why : treatment + why;
}

const outcomesOf = (rules: FieldRules): ReadonlyMap<string, string> =>
  new Map(Object.entries(rules).map(([name, rule]) => [name, outcomeOf(rule)]));

/** Names of fields, with their note if their outcome has the lead. */
function withNote([outcome, fields]: readonly [string, readonly (readonly [string, string])[]]) {
  const names = fields.map(([name]) => code(name)).join(', ');
  const note = outcome.startsWith(LEAD)
    ? outcome.slice(LEAD.length).replace(/^; /, '').replace(/\.$/, '').replaceAll('. ', '; ')
    : '';
  return note === '' ? names : `${names} (${note})`;
}

/** Fields with the same outcome share an item; those that `other` has alike are one item. */
function fieldList(rules: FieldRules, other?: readonly [group: string, rules: FieldRules]): string {
  const [group, shared] = other ?? ['', {}];
  const known = outcomesOf(shared);
  const own = [...outcomesOf(rules)];
  const alike = own.filter(([name, outcome]) => known.get(name) === outcome).map(([name]) => name);
  const items = Map.groupBy(
    own.filter(([name]) => !alike.includes(name)),
    ([, outcome]) => outcome,
  );
  const alikeStart = Map.groupBy(items, ([outcome]) =>
    outcome.startsWith(LEAD) ? `${LEAD}.` : outcome,
  );
  const lines = [...alikeStart].map(
    ([outcome, parts]) => `${parts.map(withNote).join('; ')}: ${outcome.trimEnd()}`,
  );
  return list(alike.length === 0 ? lines : [asIn(group, alike, [...known.keys()]), ...lines]);
}

/** Names the fields, or the fields of the other group that are not among them, if those are few. */
function asIn(group: string, alike: readonly string[], all: readonly string[]): string {
  const others = all.filter(name => !alike.includes(name)).map(code);
  if (others.length * 2 > alike.length)
    return `${alike.map(code).join(', ')}: as in ${code(group)}`;
  const but = others.length === 0 ? '' : ` but ${others.join(', ')}`;
  return `every field of ${code(group)}${but}: as there`;
}

/** @param before groups of the page that come first */
function sections(groups: Groups, ...before: readonly Groups[]): string {
  const named = Object.entries(groups).filter(([, rules]) => Object.keys(rules).length > 0);
  return named
    .map(([name, rules], at) => {
      const earlier = [...before.flatMap(other => Object.entries(other)), ...named.slice(0, at)];
      const other = mostAlike(rules, earlier);
      return `### ${code(name)}\n\n${fieldList(rules, other)}`;
    })
    .join('\n\n');
}

/** The group with the most fields alike, of equal ones that without others, if it saves explanations. */
function mostAlike(rules: FieldRules, others: readonly (readonly [string, FieldRules])[]) {
  const own = outcomesOf(rules);
  const alike = ([, other]: readonly [string, FieldRules]) =>
    [...outcomesOf(other)].filter(([name, outcome]) => own.get(name) === outcome);
  const hasOthers = (other: readonly [string, FieldRules]) =>
    Number(Object.keys(other[1]).length > alike(other).length);
  return others
    .filter(
      other => alike(other).filter(([, outcome]) => outcome !== PLAIN).length >= MIN_EXPLAINED,
    )
    .toSorted((a, b) => alike(b).length - alike(a).length || hasOthers(a) - hasOthers(b))[0];
}

/** Lists of `docs/reference/fields.md`. */
export const fieldLists: Readonly<Record<string, () => string>> = {
  'request-fields': () => sections(REQUEST_FIELDS),
  'realtime-query': () => fieldList(REALTIME_QUERY),
  'session-fields': () => sections(SESSION_FIELDS),
  'older-session-fields': () => sections(OLDER_SESSION_FIELDS, SESSION_FIELDS),
  'event-fields': () => sections(EVENT_FIELDS, SESSION_FIELDS),
  'client-secret-fields': () => fieldList(CLIENT_SECRET_FIELDS),
};
