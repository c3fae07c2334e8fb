import { advice, byEngine, type FieldRules, honoured, ignored, meaning, PASSED_ON, notServed } from './field-rules.js';

const TIER = honoured('Priority; the `X-Priority` header wins.');
const UNSAMPLED = 'Greedy recognisers have no sampling; 0 always passes.';

const SPOKEN = {
  file: honoured('Or `file_url`.'),
  file_url: honoured('Ours.'),
  model: honoured(),
  prompt: advice('prompt', 'Some recognisers take no text before the audio.'),
  response_format: meaning('diarize', '`diarized_json` alone needs the capability.'),
  temperature: advice('temperature', UNSAMPLED),
  itn: honoured('Ours. Refused where the language has no written form.'),
  service_tier: TIER,
} as const;

const ASR_FILE = {
  audio_file: honoured(),
  encode: honoured('`false`: headerless 16 kHz mono s16le, or a WAV file.'),
  model: honoured('Ours. Absent: `compat.asr_model`.'),
} as const;

/** Of vLLM, llama.cpp and Ollama: how text is drawn, as no model here draws it. */
const FOREIGN_FIELDS = [
  'allowed_token_ids',
  'bad_words',
  'chat_template',
  'chat_template_kwargs',
  'continue_final_message',
  'documents',
  'ignore_eos',
  'include_stop_str_in_output',
  'length_penalty',
  'min_tokens',
  'mirostat',
  'n_predict',
  'options',
  'prompt_logprobs',
  'stop_token_ids',
  'think',
  'truncate_prompt_tokens',
  'typical_p',
  'use_beam_search',
] as const;

const foreign = <Rule>(rule: Rule) =>
  Object.fromEntries(FOREIGN_FIELDS.map(name => [name, rule])) as Record<(typeof FOREIGN_FIELDS)[number], Rule>;

const GUIDED = "Beyond OpenAI; vLLM's. One field at most holds the answer to a form.";

const TEXT = {
  model: honoured(),
  stream: honoured(),
  stream_options: honoured('Refused without `stream`.'),
  n: honoured(),
  temperature: honoured(),
  top_p: honoured(),
  presence_penalty: honoured(),
  frequency_penalty: honoured(),
  stop: honoured(),
  seed: honoured(),
  service_tier: TIER,
  response_format: byEngine('Local models refuse schema keywords that no grammar can express.'),
  logit_bias: byEngine(),
  top_k: byEngine('Beyond OpenAI.'),
  min_p: byEngine('Beyond OpenAI.'),
  repeat_penalty: byEngine('Beyond OpenAI.'),
  repetition_penalty: byEngine('Beyond OpenAI; another name of `repeat_penalty`.'),
  grammar: byEngine('Beyond OpenAI; GBNF.'),
  guided_json: byEngine(GUIDED),
  guided_regex: byEngine(GUIDED),
  guided_choice: byEngine(GUIDED),
  guided_grammar: byEngine(`${GUIDED} GBNF.`),
  structured_outputs: byEngine(`${GUIDED} \`json\`, \`regex\`, \`choice\`, \`grammar\`, \`json_object\`.`),
  ...foreign(advice(PASSED_ON, "Other servers' own.")),
  user: advice(PASSED_ON, 'Local models do not tell end users apart.'),
} as const;

const LOCAL_HAS_NONE = 'Local models have no such setting.';
const LOCAL_KEEPS_NOTHING = 'Local models store no answers.';

const CHAT = {
  ...TEXT,
  messages: honoured(),
  max_completion_tokens: honoured(),
  max_tokens: honoured('Older name of `max_completion_tokens`.'),
  logprobs: meaning('logprobs'),
  top_logprobs: honoured('Refused without `logprobs`.'),
  tools: meaning('tools', 'Local models leave out what is no function, with notice: `tools[7]`.'),
  tool_choice: byEngine(),
  parallel_tool_calls: byEngine(),
  functions: meaning(PASSED_ON, 'The older form of `tools`.'),
  audio: meaning(PASSED_ON, 'Local models answer in text.'),
  modalities: meaning(PASSED_ON, 'Local models answer in text; `text` alone always passes.'),
  web_search_options: meaning(PASSED_ON, 'Local models do not search.'),
  reasoning_effort: advice(PASSED_ON, LOCAL_HAS_NONE),
  verbosity: advice(PASSED_ON, LOCAL_HAS_NONE),
  prediction: advice(PASSED_ON, LOCAL_HAS_NONE),
  prompt_cache_key: advice(PASSED_ON, 'Local models find common beginnings by themselves.'),
  safety_identifier: advice(PASSED_ON, 'Local models do not tell end users apart.'),
  store: advice(PASSED_ON, LOCAL_KEEPS_NOTHING),
  metadata: advice(PASSED_ON, LOCAL_KEEPS_NOTHING),
} as const;

const CONVERSATION = {
  model: honoured(),
  input: honoured('Items that no model here reads are left out, with notice: `input[7]`.'),
  instructions: honoured(),
  previous_response_id: honoured('Refused where no responses are stored.'),
  conversation: notServed('there are no stored conversations; use `previous_response_id`'),
  prompt: notServed('there are no stored prompts; use `instructions`'),
  tools: honoured('Of models with `tools`. Those that are not served are left out, with notice: `tools[7]`.'),
  tool_choice: honoured('Refused where it demands what is not served.'),
  parallel_tool_calls: honoured(),
  text: honoured('Local models ignore `verbosity`, with notice.'),
  reasoning: advice(PASSED_ON, 'Local models decide by themselves.'),
  truncation: honoured('`auto` is ignored, with notice: nothing of a conversation is dropped.'),
  service_tier: TIER,
} as const;

const RESPONSE = {
  ...CONVERSATION,
  stream: honoured(),
  stream_options: honoured('`include_obfuscation` is ignored, with notice.'),
  store: honoured('`true` is refused where no responses are stored.'),
  background: honoured('`true` is refused where no responses are stored.'),
  include: honoured('`reasoning.encrypted_content` is ignored, with notice: reasoning is in `content`.'),
  max_output_tokens: honoured(),
  max_tool_calls: honoured('Of hosted tools, of which there are none.'),
  temperature: honoured(),
  top_p: honoured(),
  presence_penalty: honoured(),
  frequency_penalty: honoured(),
  top_logprobs: honoured(),
  metadata: honoured('Returned as it is.'),
  user: honoured('Returned as it is.'),
  safety_identifier: honoured('Returned as it is.'),
  prompt_cache_key: ignored('equal beginnings are found without it'),
  ...foreign(ignored("other servers' own; chat and completions pass it on")),
} as const;

const PAGE = { limit: honoured(), after: honoured() } as const;
const EXPIRING = { expires_after: honoured() } as const;

/**
 * Every field of every public route, multipart fields and query parameters included: what happens to it, and why. A
 * spec holds it equal to the DTOs and to what the routes do; `docs/reference/fields.md` is made of it.
 */
export const REQUEST_FIELDS = {
  'POST /v1/audio/transcriptions': {
    ...SPOKEN,
    language: honoured('A tag or an English name; refused if the model does not recognise it.'),
    languages: honoured('Ignored with notice when several of them are possible: the model detects the language.'),
    timestamp_granularities: meaning('word_timestamps', '`word` needs the capability; with `verbose_json` only.'),
    stream: honoured('Ignored with notice where the `response_format` cannot be streamed.'),
    include: advice('logprobs', 'Ignored with notice where the `response_format` has no place for it, too.'),
    chunking_strategy: honoured(),
    known_speaker_names: honoured('Refused without `diarized_json`.'),
    known_speaker_references: honoured('Refused without `diarized_json`.'),
    hot_words: advice('hot_words', 'Ours.'),
    keywords: advice('hot_words'),
  },
  'POST /v1/audio/translations': SPOKEN,
  'POST /v1/audio/speech': {
    model: honoured(),
    input: honoured(),
    voice: honoured('In any case of letters; refused if the model has no such voice.'),
    instructions: advice('instructions', 'Some synthesisers cannot follow them.'),
    response_format: honoured(),
    speed: meaning('speed', '1 always passes.'),
    stream_format: honoured(),
    service_tier: TIER,
  },
  'GET /v1/audio/voices': { model: honoured('Absent: all speech models.') },
  'POST /asr': {
    ...ASR_FILE,
    task: honoured(),
    language: honoured('A tag or an English name; refused if the model does not recognise it.'),
    initial_prompt: advice('prompt', 'Some recognisers take no text before the audio.'),
    vad_filter: ignored('speech is found by the worker, with or without it'),
    word_timestamps: meaning('word_timestamps', 'Ignored with notice unless `output` is `json`.'),
    output: honoured(),
  },
  'POST /detect-language': ASR_FILE,
  'POST /v1/chat/completions': CHAT,
  'POST /v1/responses': RESPONSE,
  'POST /v1/responses/input_tokens': CONVERSATION,
  'GET /v1/responses/{id}': { stream: honoured(), starting_after: honoured('With `stream`.') },
  'GET /v1/responses/{id}/input_items': { ...PAGE, order: honoured() },
  'POST /v1/completions': {
    ...TEXT,
    prompt: honoured(),
    max_tokens: honoured(),
    logprobs: meaning('logprobs'),
    suffix: meaning(PASSED_ON, 'Local models only continue texts.'),
    echo: meaning(PASSED_ON, 'Local models do not repeat prompts.'),
    best_of: meaning(PASSED_ON, 'Local models return every choice, so it must equal `n`.'),
  },
  'POST /v1/embeddings': {
    model: honoured(),
    input: honoured(),
    encoding_format: honoured(),
    dimensions: meaning('dimensions'),
    user: TEXT.user,
    service_tier: TIER,
  },
  'POST /v1/rerank': {
    model: honoured(),
    query: honoured(),
    documents: honoured(),
    top_n: honoured(),
    return_documents: honoured(),
    user: TEXT.user,
    max_tokens_per_doc: advice(PASSED_ON, 'Local models refuse a document that is too long.'),
    service_tier: TIER,
  },
  'POST /tokenize': {
    model: honoured(),
    prompt: honoured('Cut as a prompt is, with the first token of the model.'),
    content: honoured("llama.cpp's name of `prompt`."),
    messages: honoured(),
    add_special_tokens: meaning(PASSED_ON, 'Local models refuse `false`.'),
    add_special: meaning(PASSED_ON, 'Local models refuse `false`.'),
    return_token_strs: advice(PASSED_ON, LOCAL_HAS_NONE),
    with_pieces: advice(PASSED_ON, LOCAL_HAS_NONE),
  },
  'POST /detokenize': { model: honoured(), tokens: honoured() },
  'POST /v1/files': { file: honoured(), purpose: honoured(), ...EXPIRING },
  'GET /v1/files': { ...PAGE, order: honoured(), purpose: honoured() },
  'POST /v1/uploads': {
    bytes: honoured(),
    filename: honoured(),
    mime_type: honoured(),
    purpose: honoured(),
    ...EXPIRING,
  },
  'POST /v1/uploads/{id}/parts': { data: honoured() },
  'POST /v1/uploads/{id}/complete': { part_ids: honoured(), md5: honoured('Checked where it was sent.') },
  'POST /v1/batches': {
    input_file_id: honoured(),
    endpoint: honoured(),
    completion_window: honoured('Shorter and longer windows than 24h are ours.'),
    metadata: honoured(),
    output_expires_after: honoured(),
    webhook: honoured('Ours.'),
  },
  'GET /v1/batches': PAGE,
} as const satisfies Readonly<Record<string, FieldRules>>;
