import { type EngineInfo } from '@switchyard/engine-api/engine.js';
import { nameOf } from './call.codec.js';
import { HealthCheckResponse_ServingStatus } from './generated/grpc/health/v1/health.js';
import {
  type GenerationActivity,
  type HealthResponse,
  HealthResponse_State,
} from './generated/switchyard/v1/common.js';

export {
  HealthClient as HealthStub,
  HealthService as healthDefinition,
  type HealthClient,
  type HealthServer,
  type HealthCheckRequest,
  type HealthCheckResponse,
} from './generated/grpc/health/v1/health.js';
export {
  type GenerationActivity,
  type HealthRequest,
  type HealthResponse,
} from './generated/switchyard/v1/common.js';

/** Values of the standard `grpc.health.v1` protocol. */
export const { SERVING, NOT_SERVING, SERVICE_UNKNOWN } = HealthCheckResponse_ServingStatus;

/** What a worker reports about itself, besides the standard check. */
export interface WorkerHealthReport extends Omit<EngineInfo, 'callMs' | 'capabilities'> {
  readonly state: 'starting' | 'ready' | 'draining';
  readonly model: string;
  readonly kind: string;
  readonly capabilities: readonly string[];
  /** Requests received and not yet answered. */
  readonly inFlight: number;
  readonly maxMessageBytes: number;
  /** Absent for engines that do not batch by steps. */
  readonly generation?: Readonly<GenerationActivity> | undefined;
}

/** The one service of a worker of each kind. */
export const SERVICE_NAMES = {
  stt: 'switchyard.v1.SpeechToText',
  tts: 'switchyard.v1.TextToSpeech',
  llm: 'switchyard.v1.TextGeneration',
  embedding: 'switchyard.v1.TextGeneration',
} as const;

const STATES = {
  starting: HealthResponse_State.STARTING,
  ready: HealthResponse_State.READY,
  draining: HealthResponse_State.DRAINING,
} as const;

export const encodeHealth = (report: WorkerHealthReport): HealthResponse => ({
  ...report,
  state: STATES[report.state],
  overdraft: report.overdraft ?? 0,
  capabilities: [...report.capabilities],
  languages: [...report.languages],
});

/**
 * As sent; a state this gateway does not know counts as `starting`: no work goes there.
 */
export function decodeHealth(message: HealthResponse): WorkerHealthReport {
  return { ...message, state: nameOf(STATES, message.state) ?? 'starting' };
}
