import {
  type PreparedAudio,
  type TranscribeItem,
} from '@switchyard/engine-api/speech-recognizer.js';
import { type SynthesizeItem } from '@switchyard/engine-api/speech-synthesizer.js';
import { type EmbedItem } from '@switchyard/engine-api/text-embedder.js';
import {
  type EngineName,
  type ModelKind,
  type ModelSpec,
} from '../../../src/platform/config/model-spec.js';
import { type GenerateItem } from '../../../src/worker/engines/text-generator.js';
import { syntheticModel } from '../../support/synthetic-model.js';

export const SAMPLE_RATE = 16_000;

export const modelSpec = (
  engine: EngineName,
  kind: ModelKind,
  options: ModelSpec['options'] = {},
): ModelSpec =>
  syntheticModel(options, { id: `${engine}-under-test`, kind, engine, capabilities: [] });

export function transcribeItem(
  audio: PreparedAudio,
  changes: Partial<TranscribeItem> = {},
): TranscribeItem {
  return {
    requestId: 'r1',
    audio,
    task: 'transcribe',
    language: '',
    prompt: '',
    temperature: 0,
    wordTimestamps: true,
    signal: new AbortController().signal,
    ...changes,
  };
}

export interface CollectedSpeech {
  readonly item: SynthesizeItem;
  readonly parts: Int16Array[];
  all(): Int16Array;
}

export function synthesizeItem(
  text: string,
  voice: string,
  changes: Partial<SynthesizeItem> = {},
): CollectedSpeech {
  const parts: Int16Array[] = [];
  const item: SynthesizeItem = {
    requestId: 'r1',
    text,
    voice,
    speed: 1,
    signal: new AbortController().signal,
    emit: samples => parts.push(samples),
    ...changes,
  };
  return { item, parts, all: () => joinSamples(parts) };
}

export function joinSamples(parts: readonly Int16Array[]): Int16Array {
  const all = new Int16Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

export function pcm(samples: Int16Array): PreparedAudio {
  return { kind: 'pcm', samples, sampleRate: SAMPLE_RATE, durationS: samples.length / SAMPLE_RATE };
}

export function encoded(text: string, durationS = 2): PreparedAudio {
  return { kind: 'encoded', bytes: Buffer.from(text), filename: 'a.wav', durationS };
}

export function silence(seconds: number): Int16Array {
  return new Int16Array(seconds * SAMPLE_RATE);
}

/** A chat about `text`, as a caller would send it. */
export function generateItem(text: string, changes: Partial<GenerateItem> = {}): GenerateItem {
  const { form = 'chat', stream = true } = changes;
  const said = form === 'chat' ? { messages: [{ role: 'user', content: text }] } : { prompt: text };
  return {
    requestId: 'r1',
    form,
    stream,
    maxTokens: 0,
    n: 1,
    priority: 'batch',
    tenant: '',
    body: Buffer.from(JSON.stringify({ model: 'as-called', stream, temperature: 0, ...said })),
    signal: new AbortController().signal,
    ...changes,
  };
}

export function embedItem(
  input: string | readonly string[],
  changes: Partial<EmbedItem> = {},
): EmbedItem {
  return {
    requestId: 'r1',
    tenant: '',
    inputs: Array.isArray(input) ? input.length : 1,
    body: Buffer.from(JSON.stringify({ model: 'as-called', input })),
    signal: new AbortController().signal,
    ...changes,
  };
}
