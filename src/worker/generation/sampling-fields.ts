import { type FieldReader } from '../../contracts/realtime/field-reader.js';
import { type Grammar, type Sampling, type TextBackendInfo } from '../engines/text-backend.port.js';

const MOST_STOPS = 4;
const SEED_RANGE = 2n ** 32n;

/**
 * How tokens are drawn. Beyond OpenAI's fields those that local servers know: top_k, min_p, repeat_penalty, grammar.
 */
export function samplingOf(body: FieldReader, info: TextBackendInfo): Omit<Sampling, 'seed' | 'logprobs'> {
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
  return seed === undefined ? undefined : Number(BigInt.asUintN(64, BigInt(seed)) % SEED_RANGE);
}

export function stopOf(body: FieldReader): readonly string[] {
  const value = body.raw('stop');
  if (value === undefined) return [];
  const stops: readonly unknown[] = Array.isArray(value) ? value : [value];
  const isStop = (stop: unknown): stop is string => typeof stop === 'string' && stop !== '';
  if (stops.length > MOST_STOPS || !stops.every(isStop))
    throw body.invalid('stop', `must be a text that is not empty, or a list of up to ${MOST_STOPS} of them`);
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
  return entries.length === 0 ? undefined : new Map(entries.map(([token, bias]) => [Number(token), bias as number]));
}

function grammarOf(body: FieldReader, info: TextBackendInfo): Grammar | undefined {
  const own = body.string('grammar', 1_000_000);
  const asked = responseFormatOf(body);
  if (own !== undefined && asked) throw body.invalid('grammar', 'cannot be combined with `response_format`');
  const grammar: Grammar | undefined = own === undefined ? asked : { type: 'gbnf', text: own };
  if (grammar && !info.grammar)
    throw body.refusal(own === undefined ? 'response_format' : 'grammar', 'this model has no grammars');
  return grammar;
}

function responseFormatOf(body: FieldReader): Grammar | undefined {
  const format = body.object('response_format');
  const type = format?.oneOf('type', ['text', 'json_object', 'json_schema']);
  if (format && type === undefined) throw format.missing('type');
  if (type === 'json_object') return { type };
  if (type !== 'json_schema') return undefined;
  const outer = format?.object('json_schema');
  if (!outer) throw format!.missing('json_schema');
  const schema = outer.raw('schema');
  // OpenAI takes a format without a schema for "any JSON".
  if (schema === undefined) return { type: 'json_object' };
  if (typeof schema !== 'object' || Array.isArray(schema)) throw outer.invalid('schema', 'must be a JSON schema');
  return { type, schema: schema! };
}
