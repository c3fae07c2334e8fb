import { Inject, Injectable } from '@nestjs/common';
import { WORKER_SPEC, type WorkerSpec } from '../../platform/config/worker-spec.js';

const NAMES = {
  stt: 'switchyard.v1.SpeechToText',
  tts: 'switchyard.v1.TextToSpeech',
  llm: 'switchyard.v1.TextGeneration',
  embedding: 'switchyard.v1.TextGeneration',
} as const;

/** The one service of this process by its full proto name; the others answer UNIMPLEMENTED. */
@Injectable()
export class ServedService {
  readonly name: string;

  constructor(@Inject(WORKER_SPEC) spec: WorkerSpec) {
    this.name = NAMES[spec.model.kind];
  }
}
