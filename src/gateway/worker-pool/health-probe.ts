import { Metadata, type ServiceError, status } from '@grpc/grpc-js';
import {
  decodeHealth,
  type HealthCheckResponse,
  type HealthResponse,
  SERVING,
  type WorkerHealthReport,
} from '../../contracts/grpc/health.codec.js';
import { type ModelKind } from '../../platform/config/model-spec.js';
import { type WorkerChannel } from './worker-channel.js';

const SERVICES: Readonly<Record<ModelKind, string>> = {
  stt: 'SpeechToText',
  tts: 'TextToSpeech',
  llm: 'TextGeneration',
  embedding: 'TextGeneration',
};

/**
 * Both health services that a worker must have: the standard check of the empty service name, and the worker's own report. Rejects with
 * an error that names the one at fault.
 */
export async function probeWorker(
  channel: WorkerChannel,
  kind: ModelKind,
  timeoutMs: number,
): Promise<WorkerHealthReport> {
  const limit = { deadline: Date.now() + timeoutMs };
  const metadata = new Metadata();
  const check = channel.unary<HealthCheckResponse>(done =>
    channel.health.check({ service: '' }, metadata, limit, done),
  );
  const report = channel.unary<HealthResponse>(done => channel.control(kind).health({}, metadata, limit, done));
  const [{ status: serving }, health] = await Promise.all([
    check.catch(failureOf('grpc.health.v1.Health/Check of service ""', timeoutMs)),
    report.catch(failureOf(`switchyard.v1.${SERVICES[kind]}/Health`, timeoutMs)),
  ]);
  const { state, ...rest } = decodeHealth(health);
  return { ...rest, state: serving !== SERVING && state === 'ready' ? 'draining' : state };
}

const failureOf =
  (method: string, timeoutMs: number) =>
  (error: Partial<ServiceError>): never => {
    const { code, message } = error;
    if (code === status.DEADLINE_EXCEEDED)
      throw new Error(`${method} was not answered within ${timeoutMs} ms`, { cause: error });
    const missing = code === status.UNIMPLEMENTED || code === status.NOT_FOUND;
    throw new Error(`${method} failed: ${message}${missing ? '; every worker must serve it' : ''}`, { cause: error });
  };
