import { type ModelSpec } from '../../../src/platform/config/model-spec.js';
import { answerToken } from '../../../src/worker/engines/synthetic/generator.js';
import { syntheticText } from '../../../src/worker/engines/synthetic/recognizer.js';
import { syntheticModel } from '../../support/synthetic-model.js';

/** Tokens of a whole answer of the synthetic language model. */
export const ANSWER_TOKENS = 48;
/** Requests that the upstream has at the same time, however many gateways there are. */
export const UPSTREAM_SLOTS = 8;
/** An upload with this word ends the worker that hears it. */
export const POISON = 'deadly';
/**
 * What the recogniser is told of a request that says nothing else: task, language,
 * prompt, temperature.
 */
const CONDITIONS = ['transcribe', '', '', '0'];

/** @param upstreamUrl of the server behind `openai-http` */
export function chaosModels(upstreamUrl: string): readonly ModelSpec[] {
  const speech = syntheticModel(
    {
      ...{ baseMs: 40, perItemMs: 5, maxBatch: 4, streams: 16 },
      faults: [{ marker: POISON, action: 'crash' }],
    },
    { capabilities: ['transcribe', 'stream'], replicas: 2 },
  );
  const language = syntheticModel(
    { tokens: ANSWER_TOKENS, perTokenMs: 15, maxConcurrent: 8 },
    {
      id: 'synthetic-llm',
      kind: 'llm',
      capabilities: ['chat', 'completions'],
      replicas: 2,
    },
  );
  const upstream = syntheticModel(
    { baseUrl: upstreamUrl, maxConcurrent: UPSTREAM_SLOTS },
    {
      id: 'upstream',
      kind: 'llm',
      engine: 'openai-http',
      capabilities: ['chat', 'completions'],
    },
  );
  return [speech, language, upstream];
}

/** What is heard in a file of exactly these bytes. */
export const heardInFile = (content: string): string =>
  syntheticText(Buffer.from(content), CONDITIONS);

/** What is heard in exactly these bytes of a live session at 16 kHz. */
export const heardLive = (audio: string): string => syntheticText(Buffer.from(audio), []);

/** What the synthetic language model answers to these words. */
export function saidTo(words: string, tokens = ANSWER_TOKENS): string {
  const list = words.split(' ');
  return Array.from({ length: Math.min(tokens, ANSWER_TOKENS) }, (_, at) =>
    answerToken(list, 0, at),
  ).join('');
}
