import {
  ANYTHING,
  checked,
  defaulted,
  FLAG,
  numberFrom,
  OBJECT,
  objectOf,
  objectsUpTo,
  oneOf,
  optional,
  REQUIRED,
  textOr,
  textUpTo,
  unserved,
  wholeNumberFrom,
} from '@switchyard/engine-api/rules.js';
import { z } from 'zod';
import {
  advice,
  type FieldRule,
  type FieldRules,
  honoured,
  ignored,
  notServed,
} from '../openai/field-types.js';
import { type AudioFormat, ENCODINGS } from './audio-format.js';

const NO_LOGPROBS = 'live streams have no log probabilities';
const NO_NOISE_REDUCTION = 'audio is recognised as it comes';
export const NO_CHAT = 'no language model answers here; responses speak the text they are given';
const NOT_LIVE = 'live streams do not take it';
const NOT_ONE = 'turns are detected by `server_vad`, which has no such setting';

/** A field that is honoured and must be given. */
const needs = <S extends z.ZodType>(schema: S, why = '') => ({
  ...honoured(why),
  schema,
});

/** A field that is honoured and may be absent. */
const acts = <S extends z.ZodType>(schema: S, why = '') => needs(optional(schema), why);

type Shape<R> = {
  [N in keyof R]: R[N] extends { schema: infer S extends z.ZodType }
    ? S
    : z.ZodOptional<z.ZodUnknown>;
};

/** What an object with these fields is read by; `IgnoredFields.settle` does the rest. */
export const objectWith = <R extends FieldRules>(rules: R) =>
  objectOf(
    Object.fromEntries(
      Object.entries(rules).map(([name, rule]) => [name, schemaOf(rule)]),
    ) as Shape<R>,
  );

function schemaOf(rule: FieldRule & { readonly schema?: z.ZodType }): z.ZodType {
  if (rule.treatment === 'refused') return unserved(rule.why);
  return rule.schema ?? optional(ANYTHING);
}

/**
 * Settings of a language model: which would answer something else without them, and which
 * only advise it.
 */
const CHAT_SETTINGS = {
  instructions: notServed(NO_CHAT),
  tools: notServed(NO_CHAT),
  tool_choice: ignored(NO_CHAT),
  parallel_tool_calls: ignored(NO_CHAT),
  temperature: ignored(NO_CHAT),
} as const;

const NEWER_CHAT_SETTINGS = {
  ...CHAT_SETTINGS,
  prompt: notServed(NO_CHAT),
  reasoning: ignored(NO_CHAT),
  max_output_tokens: ignored(NO_CHAT),
} as const;

const LANGUAGES = checked<readonly string[]>(
  value =>
    Array.isArray(value) &&
    value.length <= 100 &&
    value.every(one => typeof one === 'string' && one.length <= 35),
  'a list of at most 100 strings of at most 35 characters',
);

const TRANSCRIPTION = {
  model: acts(textUpTo(256)),
  language: acts(
    textUpTo(35),
    'A tag or an English name; refused if the model does not recognise it.',
  ),
  languages: acts(
    LANGUAGES,
    'Ignored with notice when several of them are possible: the model detects the language.',
  ),
  prompt: {
    ...advice('prompt', 'Some recognisers take no text before the audio.'),
    schema: optional(textUpTo(4096)),
  },
  delay: ignored(NOT_LIVE),
  keywords: ignored(NOT_LIVE),
} as const;

const TURNS = {
  type: acts(
    oneOf(['server_vad', 'semantic_vad']),
    '`semantic_vad` is served as `server_vad`, with notice.',
  ),
  threshold: acts(numberFrom(0, 1)),
  prefix_padding_ms: acts(wholeNumberFrom(0, 5000)),
  silence_duration_ms: acts(wholeNumberFrom(50, 10_000)),
  interrupt_response: acts(FLAG),
  create_response: acts(
    FLAG,
    '`true` is ignored with notice in transcription sessions and refused in others.',
  ),
  idle_timeout_ms: ignored(NOT_ONE),
  eagerness: ignored(NOT_ONE),
} as const;

/** OpenAI's own format is 24 kHz; microphones and telephones deliver the others. */
const PCM_RATES = [8000, 16_000, 24_000, 48_000] as const;

/** `{type: "audio/pcm", rate: 24000}`. */
const AUDIO_FORMAT = objectOf({
  type: defaulted(oneOf(Object.keys(ENCODINGS) as (keyof typeof ENCODINGS)[]), 'audio/pcm'),
  rate: optional(ANYTHING),
}).transform(({ type, rate }, context): AudioFormat => {
  const encoding = ENCODINGS[type];
  const rates: readonly number[] = encoding === 'pcm16' ? PCM_RATES : [8000];
  const sampleRate = rate ?? (encoding === 'pcm16' ? 24_000 : 8000);
  if (!rates.some(known => known === sampleRate))
    context.addIssue({
      code: 'custom',
      path: ['rate'],
      message: `must be one of ${rates.join(', ')}`,
    });
  return { encoding, sampleRate: Number(sampleRate) };
});

/** `"pcm16"`, which is 24 kHz, or G.711. */
const OLDER_AUDIO_FORMAT = oneOf(Object.values(ENCODINGS)).transform((encoding): AudioFormat => ({
  encoding,
  sampleRate: encoding === 'pcm16' ? 24_000 : 8000,
}));

/** By name or as `{id}`. */
const VOICE = textOr(objectOf({ id: optional(textUpTo(128)) }).transform(({ id }) => id)).pipe(
  optional(textUpTo(128)),
);
const SPEED = numberFrom(0.25, 1.5);
/** Accepted and without effect: every session sends both text and audio. */
const MODALITIES = checked(
  value => Array.isArray(value) && value.every(one => one === 'text' || one === 'audio'),
  'a list of "text" and "audio"',
);

const OUTPUT = {
  format: acts(AUDIO_FORMAT, '`audio/pcm` at 24 kHz alone; others are refused.'),
  voice: acts(VOICE),
  speed: acts(SPEED),
} as const;

/** `null` turns the detection off. */
const TURN_DETECTION = needs(objectWith(TURNS).nullish());

const NOT_NULL = z
  .unknown()
  .optional()
  .refine(value => value !== null, {
    params: { why: 'transcribing cannot be turned off' },
    abort: true,
  });

const INPUT = {
  format: acts(AUDIO_FORMAT),
  transcription: needs(
    NOT_NULL.pipe(objectWith(TRANSCRIPTION).optional()),
    '`null` is refused: transcribing cannot be turned off.',
  ),
  turn_detection: TURN_DETECTION,
  noise_reduction: ignored(NO_NOISE_REDUCTION),
} as const;

const AUDIO = {
  input: acts(objectWith(INPUT)),
  output: acts(objectWith(OUTPUT)),
} as const;

const BOTH = 'Both are always there: the transcript and the speech.';
const PCM16 = '`pcm16` alone; others are refused.';

/**
 * Fields of a session by the object that holds them; the first of a path names the event
 * or the route.
 */
export const SESSION_FIELDS = {
  session: {
    type: needs(oneOf(['transcription', 'realtime'])),
    model: acts(textUpTo(256)),
    audio: acts(objectWith(AUDIO)),
    output_modalities: acts(MODALITIES, BOTH),
    include: ignored(NO_LOGPROBS),
    tracing: ignored(NO_CHAT),
    truncation: ignored(NO_CHAT),
    ...NEWER_CHAT_SETTINGS,
  },
  'session.audio': AUDIO,
  'session.audio.input': INPUT,
  'session.audio.input.transcription': TRANSCRIPTION,
  'session.audio.input.turn_detection': TURNS,
  'session.audio.output': OUTPUT,
} as const satisfies Readonly<Record<string, FieldRules>>;

/**
 * The same in the older dialect (`OpenAI-Beta: realtime=v1`), where a session is
 * one flat object.
 */
export const OLDER_SESSION_FIELDS = {
  session: {
    input_audio_format: acts(OLDER_AUDIO_FORMAT),
    input_audio_transcription: acts(objectWith(TRANSCRIPTION)),
    turn_detection: TURN_DETECTION,
    modalities: acts(MODALITIES, BOTH),
    voice: acts(VOICE),
    speed: acts(SPEED),
    output_audio_format: acts(OLDER_AUDIO_FORMAT, PCM16),
    client_secret: honoured(
      'Of `/v1/realtime/transcription_sessions`: how long the token is valid.',
    ),
    include: ignored(NO_LOGPROBS),
    input_audio_noise_reduction: ignored(NO_NOISE_REDUCTION),
    max_response_output_tokens: ignored(NO_CHAT),
    tracing: ignored(NO_CHAT),
    ...CHAT_SETTINGS,
  },
  'session.input_audio_transcription': TRANSCRIPTION,
  'session.turn_detection': TURNS,
} as const satisfies Readonly<Record<string, FieldRules>>;

/** Longest text of one response, as in `POST /v1/audio/speech`. */
const LONGEST_TEXT = 4096;

const PART = objectOf({
  type: optional(oneOf(['input_text', 'text', 'output_text'])),
  text: textUpTo(LONGEST_TEXT),
});

/** Of a user or assistant. */
const MESSAGE = {
  type: optional(oneOf(['message'])),
  role: optional(oneOf(['user', 'assistant', 'system'])),
  object: optional(ANYTHING),
  status: optional(ANYTHING),
  content: objectsUpTo(100, PART).min(1, REQUIRED),
};
const textOf = ({ content }: { readonly content: readonly { text: string }[] }): string =>
  content.map(({ text }) => text).join('\n');

const ITEM = objectOf({ ...MESSAGE, id: optional(textUpTo(64)) }).transform(item => ({
  id: item.id,
  text: textOf(item),
}));

const SPOKEN = objectsUpTo(100, objectOf({ ...MESSAGE, id: optional(ANYTHING) }))
  .transform(items => items.map(textOf).join('\n'))
  .refine(
    text => text.length <= LONGEST_TEXT,
    `must have at most ${LONGEST_TEXT} characters of text in all`,
  );

const RESPONSE = {
  input: acts(SPOKEN),
  audio: acts(
    objectOf({
      output: optional(objectOf({ format: optional(AUDIO_FORMAT), voice: optional(VOICE) })),
    }),
  ),
  voice: acts(VOICE),
  conversation: acts(oneOf(['auto', 'none'])),
  metadata: acts(OBJECT),
  output_modalities: honoured('Refused without `audio`.'),
  modalities: honoured('Older name of `output_modalities`.'),
  output_audio_format: acts(OLDER_AUDIO_FORMAT, PCM16),
  max_response_output_tokens: ignored(NO_CHAT),
  ...NEWER_CHAT_SETTINGS,
} as const;

/** Any value but absent and `null`. */
export const GIVEN = z.unknown().refine(value => value != null);

/**
 * Events of the client beside `session.update`, whose `session` has a table of its own.
 */
export const EVENT_FIELDS = {
  'input_audio_buffer.append': {
    audio: needs(GIVEN, 'Base64; binary frames carry the same.'),
  },
  'input_audio_buffer.commit': {},
  'input_audio_buffer.clear': {},
  'conversation.item.create': {
    item: needs(ITEM),
    previous_item_id: notServed('new items come last'),
  },
  'response.create': { response: acts(objectWith(RESPONSE)) },
  'response.create: response': RESPONSE,
  'response.cancel': { response_id: acts(textUpTo(128)) },
} as const satisfies Readonly<Record<string, FieldRules>>;

/** Query of `GET /v1/realtime`. */
export const REALTIME_QUERY = {
  model: honoured('Absent: the model of the client secret, or `realtime.transcription_model`.'),
  intent: honoured('`transcription`, with or without `model`.'),
  session_id: honoured('Ours: resumes a session.'),
  session_secret: honoured('Ours: with `session_id`.'),
  last_event_id: honoured('Ours: with `session_id`.'),
  call_id: notServed('this server has no calls'),
} as const satisfies FieldRules;

/** Of a token, in seconds: OpenAI's range. */
const LIFETIME = objectOf({
  anchor: optional(oneOf(['created_at'])),
  seconds: optional(wholeNumberFrom(10, 7200)),
});

/** Body of `POST /v1/realtime/client_secrets`. */
export const CLIENT_SECRET_FIELDS = {
  expires_after: acts(LIFETIME),
  session: honoured('As in `session.update`; ignored fields are named in `x-switchyard-ignored`.'),
} as const satisfies FieldRules;
