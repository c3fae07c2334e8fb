import { IgnoredFields } from '../../../src/contracts/openai/ignored-fields.js';
import { RerankDto } from '../../../src/contracts/openai/rerank.dto.js';
import { DetokenizeDto, TokenizeDto } from '../../../src/contracts/openai/token.dto.js';
import { AsrQueryDto } from '../../../src/contracts/whisper-asr/asr.dto.js';
import {
  parseTranscription,
  parseTranslation,
} from '../../../src/gateway/audio/parse-transcription.js';
import { parseSpeech } from '../../../src/gateway/audio/start-speech.js';
import { parseDto } from '../../../src/gateway/http/dto-validation.js';
import { type REQUEST_FIELDS } from '../../../src/gateway/http/openapi/request-fields.js';
import { parseMessage, parseMessageCount } from '../../../src/gateway/messages/parse-message.js';
import { requestParser } from '../../../src/gateway/models/model-abilities.js';
import { type ModelCatalog } from '../../../src/gateway/models/model-catalog.js';
import { parseEmbed, parseOllama } from '../../../src/gateway/ollama/parse-ollama.js';
import {
  parseCompaction,
  parseInputCount,
  parseResponse,
} from '../../../src/gateway/responses/parse/parse-response.js';
import {
  parseChat,
  parseCompletion,
  parseEmbedding,
} from '../../../src/gateway/text/parse-generation.js';
import { parseAsr } from '../../../src/gateway/whisper-asr/parse-asr.js';
import { type ModelSpec } from '../../../src/platform/config/model-spec.js';

type Route = keyof typeof REQUEST_FIELDS;
type Body = Readonly<Record<string, unknown>>;

/** How a route reads its fields. */
interface ParsedRoute {
  readonly kind: ModelSpec['kind'];
  /** Without these the route itself refuses the model. */
  readonly needs: readonly string[];
  readonly base: Body;
  readonly samples: Body;
  parse(
    body: Body,
    catalog: ModelCatalog,
    compat: { strict: boolean },
  ): { readonly ignored: readonly string[] };
}

const SPOKEN = { prompt: 'names', temperature: '0.5', response_format: 'diarized_json' };
const LABELS = { user: 'u' };
/** Of Messages, for an answer and for a count of its input. */
const MESSAGE_SAMPLES = {
  cache_control: { type: 'ephemeral' },
  'output_config.effort': 'low',
  'thinking.budget_tokens': 1024,
  'thinking.display': 'summarized',
  mcp_servers: [{ url: 'x' }],
};
const TOOL = { type: 'function', function: { name: 'look' } };
/** Of other servers. */
const FOREIGN = {
  allowed_token_ids: [1],
  bad_words: ['no'],
  chat_template: '{{ x }}',
  chat_template_kwargs: { a: true },
  continue_final_message: true,
  documents: [{ text: 'a' }],
  ignore_eos: true,
  include_stop_str_in_output: true,
  length_penalty: 2,
  min_tokens: 2,
  mirostat: 2,
  n_predict: 9,
  options: { top_k: 1 },
  prompt_logprobs: 1,
  stop_token_ids: [1],
  think: true,
  truncate_prompt_tokens: 9,
  typical_p: 0.5,
  use_beam_search: true,
};
/** Of a chat, local models hand it to their template. */
const { chat_template_kwargs: _, ...FOREIGN_OF_CHAT } = FOREIGN;
type Parse = ParsedRoute['parse'];

const ofResponses =
  (parse: typeof parseResponse): Parse =>
  (body, catalog, { strict }) => {
    const ignored = new IgnoredFields(strict);
    parse(body, { catalog, ignored, stores: true, newId: () => 'id' });
    return { ignored: ignored.paths };
  };

/** Of a request that has the input of a response only. */
const INPUT = {
  kind: 'llm',
  needs: ['chat'],
  base: { input: 'hi' },
  samples: {
    conversation: 'c',
    prompt: { id: 'p' },
    'reasoning.summary': 'auto',
    'reasoning.generate_summary': 'auto',
  },
} as const;

/** Routes that a spec walks field by field. */
export const PARSED: Partial<Record<Route, ParsedRoute>> = {
  'POST /v1/audio/transcriptions': {
    kind: 'stt',
    needs: [],
    base: {},
    parse: parseTranscription,
    samples: {
      ...SPOKEN,
      include: 'logprobs',
      hot_words: 'Ada',
      keywords: 'Ada',
      timestamp_granularities: 'word',
    },
  },
  'POST /v1/audio/translations': {
    kind: 'stt',
    needs: ['translate'],
    base: {},
    samples: SPOKEN,
    parse: parseTranslation,
  },
  'POST /v1/audio/speech': {
    kind: 'tts',
    needs: [],
    base: { input: 'hi', voice: 'alloy' },
    parse: parseSpeech,
    samples: { instructions: 'whisper', speed: 2 },
  },
  'POST /asr': {
    kind: 'stt',
    needs: [],
    base: {},
    parse: (query, catalog, compat) => parseAsr(parseDto(AsrQueryDto, query), catalog, compat),
    samples: { initial_prompt: 'names', vad_filter: 'true', word_timestamps: 'true' },
  },
  'POST /v1/chat/completions': {
    kind: 'llm',
    needs: ['chat'],
    base: { messages: [{ role: 'user', content: 'hi' }] },
    parse: parseChat,
    samples: {
      ...LABELS,
      logprobs: true,
      tools: [TOOL],
      functions: [{}],
      audio: { voice: 'a' },
      modalities: ['audio'],
      web_search_options: {},
      verbosity: 'low',
      prediction: { content: 'x' },
      prompt_cache_key: 'k',
      safety_identifier: 's',
      store: true,
      metadata: { a: 'b' },
      ...FOREIGN_OF_CHAT,
    },
  },
  'POST /v1/messages': {
    kind: 'llm',
    needs: ['chat'],
    base: { messages: [{ role: 'user', content: 'hi' }], max_tokens: 9 },
    samples: {
      ...MESSAGE_SAMPLES,
      service_tier: 'auto',
      inference_geo: 'us',
      container: 'c',
      context_management: { edits: [] },
    },
    parse: parseMessage,
  },
  'POST /v1/messages/count_tokens': {
    kind: 'llm',
    needs: ['chat'],
    base: { messages: [{ role: 'user', content: 'hi' }] },
    samples: {
      ...MESSAGE_SAMPLES,
    },
    parse: parseMessageCount,
  },
  'POST /api/chat': {
    kind: 'llm',
    needs: ['chat'],
    base: { messages: [{ role: 'user', content: 'hi' }] },
    samples: { keep_alive: 5, template: '{{ x }}' },
    parse: (body, ...rest) => parseOllama('chat', body, ...rest),
  },
  'POST /api/generate': {
    kind: 'llm',
    needs: ['chat'],
    base: { prompt: 'hi' },
    samples: { keep_alive: 5, template: '{{ x }}', suffix: 'end', context: [1] },
    parse: (body, ...rest) => parseOllama('generate', body, ...rest),
  },
  'POST /api/embed': {
    kind: 'embedding',
    needs: ['embeddings'],
    base: { input: 'hi' },
    samples: { keep_alive: 5, dimensions: 8, truncate: true, options: { seed: 1 } },
    parse: parseEmbed,
  },
  'POST /v1/responses': {
    kind: 'llm',
    needs: ['chat'],
    base: { input: 'hi' },
    samples: {
      prompt_cache_key: 'k',
      conversation: 'c',
      prompt: { id: 'p' },
      'reasoning.summary': 'auto',
      'reasoning.generate_summary': 'auto',
      ...FOREIGN,
    },
    parse: ofResponses(parseResponse),
  },
  'POST /v1/responses/input_tokens': { ...INPUT, parse: ofResponses(parseInputCount) },
  'POST /v1/responses/compact': { ...INPUT, parse: ofResponses(parseCompaction) },
  'POST /v1/completions': {
    kind: 'llm',
    needs: ['completions'],
    base: { prompt: 'hi' },
    parse: parseCompletion,
    samples: {
      ...LABELS,
      logprobs: 1,
      suffix: 'end',
      echo: true,
      best_of: 3,
      ...FOREIGN,
    },
  },
  'POST /v1/embeddings': {
    kind: 'embedding',
    needs: ['embeddings'],
    base: { input: 'hi' },
    parse: parseEmbedding,
    samples: { ...LABELS, dimensions: 8 },
  },
  'POST /v1/rerank': {
    kind: 'embedding',
    needs: ['rerank'],
    base: { query: 'a', documents: ['b'] },
    parse: requestParser(RerankDto, 'embedding', 'rerank'),
    samples: { ...LABELS, max_tokens_per_doc: 8 },
  },
  'POST /tokenize': {
    kind: 'llm',
    needs: [],
    base: { prompt: 'a' },
    parse: requestParser(TokenizeDto, 'llm'),
    samples: {
      add_special_tokens: false,
      add_special: false,
      return_token_strs: true,
      with_pieces: true,
    },
  },
  'POST /detokenize': {
    kind: 'llm',
    needs: [],
    base: { tokens: [1] },
    parse: requestParser(DetokenizeDto, 'llm'),
    samples: {},
  },
};

/** The others, and why. */
export const NOT_PARSED: Partial<Record<Route, string>> = {
  'POST /detect-language': 'every field acts',
  'POST /api/show': 'answered from the list of models',
  'POST /api/pull': 'always refused',
  'POST /api/push': 'always refused',
  'POST /v1/files': 'no model reads it',
  'POST /v1/uploads': 'no model reads it',
  'POST /v1/uploads/{id}/parts': 'no model reads it',
  'POST /v1/uploads/{id}/complete': 'no model reads it',
  'POST /v1/batches': 'no model reads it',
};
