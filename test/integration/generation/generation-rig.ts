import { type ModelSpec } from '../../../src/platform/config/model-spec.js';
import { llamaModel } from '../../support/llama-model.js';
import { type OpenAiUpstream } from '../../support/openai-upstream.js';
import { syntheticModel } from '../../support/synthetic-model.js';

/** A language model of the scripted engine. */
export const syntheticLlm = (
  options: ModelSpec['options'] = {},
  changes: Partial<ModelSpec> = {},
): ModelSpec =>
  syntheticModel(options, {
    ...{ id: 'synthetic-llm', kind: 'llm', capabilities: ['chat', 'completions'] },
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

export const syntheticEmbedding = (options: ModelSpec['options'] = {}): ModelSpec =>
  syntheticModel(options, {
    ...{ id: 'synthetic-vectors', kind: 'embedding', aliases: ['text-embedding-3-small'] },
    capabilities: ['embeddings', 'dimensions'],
  });

/** A language model behind another server. */
export const upstreamLlm = (
  { baseUrl }: OpenAiUpstream,
  options: ModelSpec['options'] = {},
): ModelSpec =>
  syntheticModel(
    { baseUrl, model: 'its/own-name', maxRetryWaitMs: 1, ...options },
    {
      ...{ id: 'upstream-llm', kind: 'llm', engine: 'openai-http', aliases: ['gpt-4o-mini'] },
      capabilities: ['chat', 'completions', 'tools', 'logprobs'],
    },
  );

export const upstreamEmbedding = ({ baseUrl }: OpenAiUpstream): ModelSpec =>
  syntheticModel(
    { baseUrl, model: 'its/own-vectors' },
    {
      ...{ id: 'upstream-vectors', kind: 'embedding', engine: 'openai-http' },
      capabilities: ['embeddings'],
    },
  );

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
