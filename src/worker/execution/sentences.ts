import { type SpeechSynthesizer } from '@switchyard/engine-api/speech-synthesizer.js';
import { type SpeechPace } from '../../core/latency/speech-pace.js';
import { type WorkerSpec } from '../../platform/config/worker-spec.js';
import { type WorkerEngine } from '../engines/worker-engine.js';
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

/**
 * REALTIME requests that are taken beyond the slots: as many answers as a voice can make as
 * fast as they are played, and one that begins.
 */
export function overdraftOf(
  engine: WorkerEngine,
  spec: WorkerSpec,
  pace: SpeechPace,
): number | undefined {
  const isVoice = engine.kind === 'tts' && takesTurns(engine, spec);
  return isVoice ? Math.max(1, pace.together - 1) : engine.info.overdraft;
}

function takesTurns(engine: Voice, spec: WorkerSpec): boolean {
  const { maxBatch, maxConcurrent } = deviceLimits(engine.info, spec);
  return engine.sentencesOf !== undefined && maxBatch * maxConcurrent === 1;
}
