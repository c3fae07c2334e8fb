import { type FieldReader } from '../../contracts/realtime/field-reader.js';
import { parseBoundedJson } from '@switchyard/engine-api/bounded-json.js';
import {
  type Grammar,
  type Sampling,
  type TextBackendInfo,
} from '@switchyard/engine-api/text-backend.port.js';

const MOST_STOPS = 4;
const SEED_RANGE = 2n ** 32n;
const LONGEST_PATTERN = 2000;
const MOST_CHOICES = 1000;
const LONGEST_CHOICE = 10_000;

/**
 * How tokens are drawn. Beyond OpenAI's fields those that local servers know: top_k,
 * min_p, repeat_penalty, grammar.
 */
export function samplingOf(
  body: FieldReader,
  info: TextBackendInfo,
): Omit<Sampling, 'seed' | 'logprobs'> {
  const logitBias = logitBiasOf(body);
  const grammar = grammarOf(body, info);
  return {
    temperature: body.number('temperature', 0, 2) ?? 1,
    topP: body.number('top_p', 0, 1) ?? 1,
    // vLLM's callers say -1 for no limit.
    topK: Math.max(0, body.integer('top_k', -1, 1_000_000) ?? 0),
    minP: body.number('min_p', 0, 1) ?? 0,
    frequencyPenalty: body.number('frequency_penalty', -2, 2) ?? 0,
    presencePenalty: body.number('presence_penalty', -2, 2) ?? 0,
    repeatPenalty: repeatPenaltyOf(body),
    ...(logitBias && { logitBias }),
    ...(grammar && { grammar }),
  };
}

/** Any whole number; two that differ by a multiple of 2^32 are the same seed. */
export function seedOf(body: FieldReader): number | undefined {
  const seed = body.integer('seed', -(2 ** 63), 2 ** 64);
  return seed === undefined
    ? undefined
    : Number(BigInt.asUintN(64, BigInt(seed)) % SEED_RANGE);
}

export function stopOf(body: FieldReader): readonly string[] {
  const value = body.raw('stop');
  if (value === undefined) return [];
  const stops: readonly unknown[] = Array.isArray(value) ? value : [value];
  const isStop = (stop: unknown): stop is string =>
    typeof stop === 'string' && stop !== '';
  if (stops.length > MOST_STOPS || !stops.every(isStop))
    throw body.invalid(
      'stop',
      `must be a text that is not empty, or a list of up to ${MOST_STOPS} of them`,
    );
  return stops;
}

/** vLLM and llama.cpp name it differently. */
function repeatPenaltyOf(body: FieldReader): number {
  const name = body.has('repeat_penalty') ? 'repeat_penalty' : 'repetition_penalty';
  return body.number(name, 0.01, 100) ?? 1;
}

function logitBiasOf(body: FieldReader): ReadonlyMap<number, number> | undefined {
  const value = body.raw('logit_bias');
  if (value === undefined) return undefined;
  const isObject = typeof value === 'object' && !Array.isArray(value);
  const entries = isObject ? Object.entries(value!) : [];
  const isBias = ([token, bias]: [string, unknown]): boolean =>
    /^\d{1,9}$/.test(token) && typeof bias === 'number' && bias >= -100 && bias <= 100;
  if (!isObject || !entries.every(isBias))
    throw body.invalid('logit_bias', 'must map token ids to numbers from -100 to 100');
  return entries.length === 0
    ? undefined
    : new Map(entries.map(([token, bias]) => [Number(token), bias as number]));
}

/** A field that holds the answer to a form. */
interface AskedGrammar {
  readonly param: string;
  readonly grammar: Grammar;
}

function grammarOf(body: FieldReader, info: TextBackendInfo): Grammar | undefined {
  const format = responseFormatOf(body);
  const structured = body.object('structured_outputs');
  const [asked, another] = [
    ...guidesIn(body, ['grammar']),
    ...(format ? [{ param: 'response_format', grammar: format }] : []),
    ...guidesIn(body, ['guided_json', 'guided_regex', 'guided_choice', 'guided_grammar']),
    ...(structured ? structuredIn(structured) : []),
  ];
  if (asked && another)
    throw body.invalid(asked.param, `cannot be combined with \`${another.param}\``);
  if (asked && !info.grammar)
    throw body.refusal(asked.param, 'this model has no grammars');
  return asked?.grammar;
}

const STRUCTURED = ['json', 'regex', 'choice', 'grammar', 'json_object'];

function structuredIn(of: FieldReader): readonly AskedGrammar[] {
  of.unsupported('structural_tag', `${STRUCTURED.join(', ')} are known`);
  return guidesIn(of, STRUCTURED);
}

/** vLLM's ways to hold an answer, by the fields that name them. */
function guidesIn(of: FieldReader, names: readonly string[]): readonly AskedGrammar[] {
  return names.flatMap(name => {
    const guide = of.has(name) ? guideIn(of, name) : undefined;
    const param = of.pathOf(name);
    return guide ? [{ param, grammar: { ...guide, param } }] : [];
  });
}

function guideIn(of: FieldReader, name: string): Grammar | undefined {
  switch (name.replace('guided_', '')) {
    case 'json':
      return { type: 'json_schema', schema: schemaIn(of, name) };
    case 'json_object':
      return of.boolean(name) ? { type: 'json_object' } : undefined;
    case 'regex':
      return { type: 'regex', pattern: of.string(name, LONGEST_PATTERN) ?? '' };
    case 'choice':
      return {
        type: 'gbnf',
        text: `root ::= ${choicesIn(of, name).map(literal).join(' | ')}`,
      };
    default:
      return { type: 'gbnf', text: of.string(name, 1_000_000) ?? '' };
  }
}

function choicesIn(of: FieldReader, name: string): readonly string[] {
  const choices = of.strings(name, { most: MOST_CHOICES, longest: LONGEST_CHOICE }) ?? [];
  if (choices.length === 0) throw of.invalid(name, 'must hold at least one text');
  return choices;
}

/** As GBNF. */
const literal = (text: string): string =>
  `"${text.replace(/["\\\p{Cc}]/gu, one => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`)}"`;

/** An object, or its JSON. */
function schemaIn(of: FieldReader, name: string): object {
  const given = of.raw(name);
  try {
    const schema: unknown = typeof given === 'string' ? parseBoundedJson(given) : given;
    if (typeof schema === 'object' && schema !== null && !Array.isArray(schema))
      return schema;
  } catch {
    // Said below.
  }
  throw of.invalid(name, 'must be a JSON schema');
}

function responseFormatOf(body: FieldReader): Grammar | undefined {
  const format = body.object('response_format');
  const type = format?.oneOf('type', ['text', 'json_object', 'json_schema']);
  if (format && type === undefined) throw format.missing('type');
  if (type === 'json_object') return { type };
  if (type !== 'json_schema') return undefined;
  const outer = format?.object('json_schema');
  if (!outer) throw format!.missing('json_schema');
  // OpenAI takes a format without a schema for "any JSON".
  if (!outer.has('schema')) return { type: 'json_object' };
  return { type, schema: schemaIn(outer, 'schema') };
}
