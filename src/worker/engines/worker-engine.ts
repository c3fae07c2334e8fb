import { type SpeechRecognizer } from '@switchyard/engine-api/speech-recognizer.js';
import { type SpeechSynthesizer } from '@switchyard/engine-api/speech-synthesizer.js';
import { type TextEmbedder } from '@switchyard/engine-api/text-embedder.js';
import { type TextGenerator } from './text-generator.js';

export type WorkerEngine = SpeechRecognizer | SpeechSynthesizer | TextGenerator | TextEmbedder;

/** The engine of this process; services of a kind inject it as that kind. */
export const ENGINE = Symbol('ENGINE');
