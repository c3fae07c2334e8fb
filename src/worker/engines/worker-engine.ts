import { type SpeechRecognizer } from '@switchyard/engine-api/speech-recognizer.js';
import { type SpeechSynthesizer } from '@switchyard/engine-api/speech-synthesizer.js';
import { type TextEmbedder } from '@switchyard/engine-api/text-embedder.js';
import { type TextGenerator } from './text-generator.js';

export type WorkerEngine =
  SpeechRecognizer | SpeechSynthesizer | TextGenerator | TextEmbedder;

/**
 * The engine of this process, by what it is asked for. Exactly one of the
 * others is provided.
 */
export const ENGINE = Symbol('ENGINE');
export const RECOGNIZER = Symbol('RECOGNIZER');
export const SYNTHESIZER = Symbol('SYNTHESIZER');
export const GENERATOR = Symbol('GENERATOR');
export const EMBEDDER = Symbol('EMBEDDER');
