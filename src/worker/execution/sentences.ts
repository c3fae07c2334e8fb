import { type SpeechSynthesizer } from '@switchyard/engine-api/speech-synthesizer.js';
import { type WorkerSpec } from '../../platform/config/worker-spec.js';
import { deviceLimits } from './micro-batcher.js';

type Voice = Pick<SpeechSynthesizer, 'info' | 'sentencesOf'>;

/**
 * What a text is spoken in. Whole where the engine does not cut it, or several items could be
 * on the device: its sentences would overtake each other. A text without a sentence is left
 * to the engine, which refuses it.
 */
export function sentencesOf(engine: Voice, spec: WorkerSpec, text: string): readonly string[] {
  const sentences = takesTurns(engine, spec) ? engine.sentencesOf?.(text) : undefined;
  return sentences?.length ? sentences : [text];
}

/** True for a voice that speaks the sentences of several answers in turns. */
export function takesTurns(engine: Voice, spec: WorkerSpec): boolean {
  const { maxBatch, maxConcurrent } = deviceLimits(engine.info, spec);
  return engine.sentencesOf !== undefined && maxBatch * maxConcurrent === 1;
}
