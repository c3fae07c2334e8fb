import { parseBoundedJson } from '@switchyard/engine-api/bounded-json.js';
import {
  missingField,
  unsupportedField,
  wrongField,
} from '@switchyard/engine-api/field-problems.js';
import { type Fields, isObject } from '@switchyard/engine-api/is-object.js';
import {
  checked,
  defaulted,
  FLAG,
  numberFrom,
  oneOf,
  optional,
  textUpTo,
  unserved,
  wholeNumberFrom,
} from '@switchyard/engine-api/rules.js';
import {
  type Grammar,
  type Sampling,
  type TextBackendInfo,
} from '@switchyard/engine-api/text-backend.port.js';
import { z } from 'zod';

const MOST_STOPS = 4;
const SEED_RANGE = 2n ** 32n;
const SEEDS = { min: -(2 ** 63), max: 2 ** 64 };
const LONGEST_PATTERN = 2000;
const LONGEST_GRAMMAR = 1_000_000;
const MOST_CHOICES = 1000;
const LONGEST_CHOICE = 10_000;

/** Any whole number; two that differ by a multiple of 2^32 are the same seed. */
const SEED = checked<number>(
  value => Number.isInteger(value) && Number(value) >= SEEDS.min && Number(value) <= SEEDS.max,
  `a whole number from ${SEEDS.min} to ${SEEDS.max}`,
).transform(seed => Number(BigInt.asUintN(64, BigInt(seed)) % SEED_RANGE));

const STOP = z
  .custom<string | readonly string[]>(
    value =>
      [value].flat().length <= MOST_STOPS &&
      [value].flat().every(stop => typeof stop === 'string' && stop !== ''),
    `must be a text that is not empty, or a list of up to ${MOST_STOPS} of them`,
  )
  .transform(value => [value].flat());

const isBias = ([token, bias]: [string, unknown]): boolean =>
  /^\d{1,9}$/.test(token) && typeof bias === 'number' && bias >= -100 && bias <= 100;
const LOGIT_BIAS = z.custom<Readonly<Record<string, number>>>(
  value => isObject(value) && Object.entries(value).every(isBias),
  'must map token ids to numbers from -100 to 100',
);

/** An object, or its JSON. */
const SCHEMA = z.unknown().transform((given, { issues }): object => {
  try {
    const schema: unknown = typeof given === 'string' ? parseBoundedJson(given) : given;
    if (isObject(schema)) return schema;
  } catch {
    // Said below.
  }
  issues.push({ code: 'custom', message: 'must be a JSON schema', input: given });
  return {};
});

const CHOICES = z
  .custom<readonly string[]>(
    value =>
      Array.isArray(value) &&
      value.length <= MOST_CHOICES &&
      value.every(one => typeof one === 'string' && one.length <= LONGEST_CHOICE),
    `must be a list of at most ${MOST_CHOICES} strings of at most ${LONGEST_CHOICE} characters`,
  )
  .refine(choices => choices.length > 0, 'must hold at least one text');

/** The text as a GBNF literal. */
const literal = (text: string): string =>
  `"${text.replace(/["\\\p{Cc}]/gu, one => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`)}"`;

/** vLLM's fields that constrain an answer. */
const GUIDES = {
  json: optional(SCHEMA.transform((schema): Grammar => ({ type: 'json_schema', schema }))),
  regex: optional(
    textUpTo(LONGEST_PATTERN).transform((pattern): Grammar => ({
      type: 'regex',
      pattern,
    })),
  ),
  choice: optional(
    CHOICES.transform((choices): Grammar => ({
      type: 'gbnf',
      text: `root ::= ${choices.map(literal).join(' | ')}`,
    })),
  ),
  grammar: optional(
    textUpTo(LONGEST_GRAMMAR).transform((text): Grammar => ({ type: 'gbnf', text })),
  ),
};

const STRUCTURED = z.object(
  {
    ...GUIDES,
    json_object: optional(
      FLAG.transform((on): Grammar | undefined => (on ? { type: 'json_object' } : undefined)),
    ),
    structural_tag: unserved('json, regex, choice, grammar, json_object are known'),
  },
  'must be an object',
);

const RESPONSE_FORMAT = z
  .object(
    {
      type: oneOf(['text', 'json_object', 'json_schema']),
      json_schema: optional(z.object({ schema: optional(SCHEMA) }, 'must be an object')),
      // llama.cpp's place of it, with either type.
      schema: optional(SCHEMA),
    },
    'must be an object',
  )
  .transform(({ type, json_schema: outer, schema }): Grammar | undefined => {
    if (type === 'text') return undefined;
    if (schema) return { type: 'json_schema', schema, param: 'response_format.schema' };
    if (type === 'json_schema' && !outer) throw missingField('response_format.json_schema');
    // OpenAI takes a format without a schema for "any JSON".
    return type === 'json_schema' && outer?.schema
      ? { type, schema: outer.schema }
      : { type: 'json_object' };
  });

/**
 * How tokens are drawn. Beyond OpenAI's fields those that local servers know: top_k,
 * min_p, repeat_penalty, grammar.
 */
export const SAMPLING_FIELDS = {
  seed: optional(SEED),
  stop: defaulted(STOP, []),
  logit_bias: defaulted(LOGIT_BIAS, {}),
  response_format: optional(RESPONSE_FORMAT),
  structured_outputs: optional(STRUCTURED),
  grammar: GUIDES.grammar,
  guided_json: GUIDES.json,
  guided_regex: GUIDES.regex,
  guided_choice: GUIDES.choice,
  guided_grammar: GUIDES.grammar,
  // Of llama.cpp and SGLang.
  json_schema: GUIDES.json,
  regex: GUIDES.regex,
  ebnf: GUIDES.grammar,
  temperature: defaulted(numberFrom(0, 2), 1),
  top_p: defaulted(numberFrom(0, 1), 1),
  // vLLM's callers say -1 for no limit.
  top_k: defaulted(wholeNumberFrom(-1, 1_000_000), 0),
  min_p: defaulted(numberFrom(0, 1), 0),
  frequency_penalty: defaulted(numberFrom(-2, 2), 0),
  presence_penalty: defaulted(numberFrom(-2, 2), 0),
  // vLLM and llama.cpp name it differently.
  repeat_penalty: optional(numberFrom(0.01, 100)),
  repetition_penalty: optional(numberFrom(0.01, 100)),
};

type SamplingFields = z.output<z.ZodObject<typeof SAMPLING_FIELDS>>;

/** @param raw the body as it came, for messages. @throws DomainError */
export function samplingOf(
  body: SamplingFields,
  raw: Fields,
  info: TextBackendInfo,
): Omit<Sampling, 'seed' | 'logprobs'> {
  const biases = Object.entries(body.logit_bias);
  const grammar = grammarOf(body, raw, info);
  return {
    temperature: body.temperature,
    topP: body.top_p,
    topK: Math.max(0, body.top_k),
    minP: body.min_p,
    frequencyPenalty: body.frequency_penalty,
    presencePenalty: body.presence_penalty,
    repeatPenalty: body.repeat_penalty ?? body.repetition_penalty ?? 1,
    ...(biases.length > 0 && {
      logitBias: new Map(biases.map(([token, bias]) => [Number(token), bias])),
    }),
    grammar,
  };
}

/** The grammar of the one field that constrains the answer. */
function grammarOf(body: SamplingFields, raw: Fields, info: TextBackendInfo): Grammar | undefined {
  const names = [
    'guided_json',
    'guided_regex',
    'guided_choice',
    'guided_grammar',
    'json_schema',
    'regex',
    'ebnf',
  ] as const;
  const structured = Object.entries(body.structured_outputs ?? {});
  const given: readonly (readonly [param: string, grammar: Grammar | undefined])[] = [
    ['grammar', body.grammar],
    ['response_format', body.response_format],
    ...names.map(name => [name, body[name]] as const),
    ...structured.map(([name, one]) => [`structured_outputs.${name}`, one] as const),
  ];
  const [asked, another] = given.filter(([, grammar]) => grammar !== undefined);
  if (asked === undefined) return undefined;
  const [param, grammar] = asked;
  if (another) throw wrongField(param, raw[param], `cannot be combined with \`${another[0]}\``);
  if (!info.grammar) throw unsupportedField(param, 'this model has no grammars');
  return param === 'response_format' ? grammar : { ...grammar!, param };
}
