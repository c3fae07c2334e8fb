import { type ModelSpec } from '../../../src/platform/config/model-spec.js';
import { llamaModel } from '../../support/llama-model.js';
import { type OpenAiUpstream } from '../../support/openai-upstream.js';

const base = {
  aliases: [],
  languages: [],
  replicas: 1,
  addresses: [],
  voices: {},
} as const;

/** A language model of the scripted engine. */
export const syntheticLlm = (
  options: ModelSpec['options'] = {},
  changes: Partial<ModelSpec> = {},
): ModelSpec => ({
  ...base,
  ...{
    id: 'synthetic-llm',
    kind: 'llm',
    engine: 'synthetic',
    capabilities: ['chat', 'completions'],
    options,
  },
  ...changes,
});

/** `llama`: llama.cpp with a small model of random weights, the same on every CPU. */
export const llamaLlm = async (
  capabilities: ModelSpec['capabilities'],
  changes: Partial<ModelSpec> = {},
  shape: Parameters<typeof llamaModel>[0] = {},
): Promise<ModelSpec> =>
  syntheticLlm(
    {
      ...{ device: 'cpu', threads: 1, exact: true, rows: 4, contextTokens: 1024 },
      modelFile: await llamaModel(shape),
    },
    { id: 'llama', engine: 'llama-cpp', capabilities, ...changes },
  );

export const syntheticEmbedding = (options: ModelSpec['options'] = {}): ModelSpec => ({
  ...base,
  ...{ id: 'synthetic-vectors', kind: 'embedding', engine: 'synthetic', options },
  capabilities: ['embeddings', 'dimensions'],
  aliases: ['text-embedding-3-small'],
});

/** A language model behind another server. */
export const upstreamLlm = (
  { baseUrl }: OpenAiUpstream,
  options: ModelSpec['options'] = {},
): ModelSpec => ({
  ...base,
  ...{
    id: 'upstream-llm',
    kind: 'llm',
    engine: 'openai-http',
    aliases: ['gpt-4o-mini'],
  },
  capabilities: ['chat', 'completions', 'tools', 'logprobs'],
  options: { baseUrl, model: 'its/own-name', maxRetryWaitMs: 1, ...options },
});

export const upstreamEmbedding = ({ baseUrl }: OpenAiUpstream): ModelSpec => ({
  ...base,
  ...{
    id: 'upstream-vectors',
    kind: 'embedding',
    engine: 'openai-http',
    capabilities: ['embeddings'],
  },
  options: { baseUrl, model: 'its/own-vectors' },
});

export const chat = (content: string, fields: object = {}): object => ({
  model: 'synthetic-llm',
  messages: [{ role: 'user', content }],
  ...fields,
});

/** The data of every event of a stream, in order. */
export async function eventsOf(response: Response): Promise<string[]> {
  const text = await response.text();
  return text
    .split('\n\n')
    .filter(event => event !== '')
    .map(event => event.replace(/^data: /, ''));
}
