import {
  advice,
  type FieldRules,
  honoured,
  ignored,
  notServed,
} from '../openai/field-rules.js';

const NO_LOGPROBS = 'live streams have no log probabilities';
const NO_NOISE_REDUCTION = 'audio is recognised as it comes';
export const NO_CHAT =
  'no language model answers here; responses speak the text they are given';
const NOT_LIVE = 'live streams do not take it';
const NOT_ONE = 'turns are detected by `server_vad`, which has no such setting';

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

const TRANSCRIPTION = {
  model: honoured(),
  language: honoured(
    'A tag or an English name; refused if the model does not recognise it.',
  ),
  languages: honoured(
    'Ignored with notice when several of them are possible: the model detects the language.',
  ),
  prompt: advice('prompt', 'Some recognisers take no text before the audio.'),
  delay: ignored(NOT_LIVE),
  keywords: ignored(NOT_LIVE),
} as const;

const TURNS = {
  type: honoured('`semantic_vad` is served as `server_vad`, with notice.'),
  threshold: honoured(),
  prefix_padding_ms: honoured(),
  silence_duration_ms: honoured(),
  interrupt_response: honoured(),
  create_response: honoured(
    '`true` is ignored with notice in transcription sessions and refused in others.',
  ),
  idle_timeout_ms: ignored(NOT_ONE),
  eagerness: ignored(NOT_ONE),
} as const;

const PCM_OUT = honoured('`audio/pcm` at 24 kHz alone; others are refused.');

/**
 * Fields of a session by the object that holds them; the first of a path names the event
 * or the route.
 */
export const SESSION_FIELDS = {
  session: {
    type: honoured(),
    model: honoured(),
    audio: honoured(),
    output_modalities: honoured('Both are always there: the transcript and the speech.'),
    include: ignored(NO_LOGPROBS),
    tracing: ignored(NO_CHAT),
    truncation: ignored(NO_CHAT),
    ...NEWER_CHAT_SETTINGS,
  },
  'session.audio': { input: honoured(), output: honoured() },
  'session.audio.input': {
    format: honoured(),
    transcription: honoured('`null` is refused: transcribing cannot be turned off.'),
    turn_detection: honoured(),
    noise_reduction: ignored(NO_NOISE_REDUCTION),
  },
  'session.audio.input.transcription': TRANSCRIPTION,
  'session.audio.input.turn_detection': TURNS,
  'session.audio.output': { format: PCM_OUT, voice: honoured(), speed: honoured() },
} as const satisfies Readonly<Record<string, FieldRules>>;

/**
 * The same in the older dialect (`OpenAI-Beta: realtime=v1`), where a session is
 * one flat object.
 */
export const OLDER_SESSION_FIELDS = {
  session: {
    input_audio_format: honoured(),
    input_audio_transcription: honoured(),
    turn_detection: honoured(),
    modalities: honoured('Both are always there: the transcript and the speech.'),
    voice: honoured(),
    speed: honoured(),
    output_audio_format: honoured('`pcm16` alone; others are refused.'),
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

/**
 * Events of the client beside `session.update`, whose `session` has a table of its own.
 */
export const EVENT_FIELDS = {
  'input_audio_buffer.append': {
    audio: honoured('Base64; binary frames carry the same.'),
  },
  'input_audio_buffer.commit': {},
  'input_audio_buffer.clear': {},
  'conversation.item.create': {
    item: honoured(),
    previous_item_id: notServed('new items come last'),
  },
  'response.create': { response: honoured() },
  'response.create: response': {
    input: honoured(),
    audio: honoured(),
    voice: honoured(),
    conversation: honoured(),
    metadata: honoured(),
    output_modalities: honoured('Refused without `audio`.'),
    modalities: honoured('Older name of `output_modalities`.'),
    output_audio_format: honoured('`pcm16` alone; others are refused.'),
    max_response_output_tokens: ignored(NO_CHAT),
    ...NEWER_CHAT_SETTINGS,
  },
  'response.cancel': { response_id: honoured() },
} as const satisfies Readonly<Record<string, FieldRules>>;

/** Query of `GET /v1/realtime`. */
export const REALTIME_QUERY = {
  model: honoured(
    'Absent: the model of the client secret, or `realtime.transcription_model`.',
  ),
  intent: honoured('`transcription`, with or without `model`.'),
  session_id: honoured('Ours: resumes a session.'),
  session_secret: honoured('Ours: with `session_id`.'),
  last_event_id: honoured('Ours: with `session_id`.'),
  call_id: notServed('this server has no calls'),
} as const satisfies FieldRules;

/** Body of `POST /v1/realtime/client_secrets`. */
export const CLIENT_SECRET_FIELDS = {
  expires_after: honoured(),
  session: honoured(
    'As in `session.update`; ignored fields are named in `x-switchyard-ignored`.',
  ),
} as const satisfies FieldRules;
