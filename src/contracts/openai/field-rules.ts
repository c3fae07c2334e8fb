/** OpenAI's `service_tier`; `fast` is a newer name of `priority`. */
export const SERVICE_TIERS = ['auto', 'default', 'flex', 'scale', 'priority', 'fast'] as const;
export type ServiceTier = (typeof SERVICE_TIERS)[number];

/** Asks for REALTIME; everything else for BATCH. */
export const isUrgent = (tier: ServiceTier): boolean => tier === 'priority' || tier === 'fast';

/**
 * Advisory fields of one request that cannot be honoured (D-34): accepted, and reported to the caller by their paths,
 * or refused when `compat.strict` is on.
 */
export class IgnoredFields {
  readonly #paths: string[] = [];

  constructor(readonly strict = false) {}

  add(path: string): void {
    this.#paths.push(path);
  }

  get paths(): readonly string[] {
    return this.#paths;
  }
}

/** Header that names the ignored fields of an HTTP request, separated by commas. */
export const IGNORED_HEADER = 'x-switchyard-ignored';

/**
 * `advice` may make an answer better; a model that cannot use it answers without, and the answer says so in
 * `x-switchyard-ignored`. `meaning` decides what the answer is; a model that cannot honour it refuses (D-34).
 */
export type FieldNature = 'advice' | 'meaning';

export interface FieldRule {
  readonly nature: FieldNature;
  /** What a model has to be able to do. */
  readonly capability: string;
}

const advice = (capability: string): FieldRule => ({ nature: 'advice', capability });
const meaning = (capability: string): FieldRule => ({ nature: 'meaning', capability });

const SPOKEN = {
  prompt: advice('prompt'),
  temperature: advice('temperature'),
  response_format: meaning('diarize'),
} as const;

/** Fields that only some models can honour, by route. */
export const FIELD_RULES = {
  transcriptions: {
    ...SPOKEN,
    hot_words: advice('hot_words'),
    keywords: advice('hot_words'),
    include: advice('logprobs'),
    timestamp_granularities: meaning('word_timestamps'),
  },
  translations: SPOKEN,
  speech: { instructions: advice('instructions'), speed: meaning('speed') },
  chat: { tools: meaning('tools'), logprobs: meaning('logprobs') },
  completions: { logprobs: meaning('logprobs') },
  embeddings: { dimensions: meaning('dimensions') },
} as const satisfies Readonly<Record<string, Readonly<Record<string, FieldRule>>>>;
