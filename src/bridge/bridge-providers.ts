import { type Provider } from '@nestjs/common';
import { type ModelKind } from '../platform/config/model-spec.js';
import { EmbeddingService } from '../worker/execution/embedding.service.js';
import { LongTranscriptionService } from '../worker/execution/long-transcription.service.js';
import { SynthesisService } from '../worker/execution/synthesis.service.js';
import { RecognitionService } from '../worker/execution/recognition.service.js';
import { StreamService } from '../worker/grpc/stream.service.js';
import {
  BridgedCalls,
  BridgedEmbedding,
  BridgedLongTranscription,
  BridgedSynthesis,
  BridgedTranscription,
} from './bridged-services.js';
import { BridgedStreams } from './bridged-streams.js';

const REPLACED: Readonly<Record<ModelKind, Provider[]>> = {
  stt: [
    { provide: RecognitionService, useClass: BridgedTranscription },
    { provide: LongTranscriptionService, useClass: BridgedLongTranscription },
    { provide: StreamService, useClass: BridgedStreams },
  ],
  tts: [{ provide: SynthesisService, useClass: BridgedSynthesis }],
  embedding: [{ provide: EmbeddingService, useClass: BridgedEmbedding }],
  // Never pulled (D-21).
  llm: [],
};

/** What a worker process computes with, replaced by calls of the worker behind it. */
export const bridgeProviders = (kind: ModelKind): Provider[] => [
  BridgedCalls,
  ...REPLACED[kind],
];
