import { type ClientUnaryCall } from '@grpc/grpc-js';
import { PLAIN_TRANSCRIPTION } from '@switchyard/engine-api/speech-recognizer.js';
import { channelSecurity } from '@switchyard/worker-protocol/channel-security.js';
import {
  decodeHealth,
  type HealthClient,
  HealthStub,
  type WorkerHealthReport,
} from '@switchyard/worker-protocol/health.codec.js';
import {
  decodeTranscript,
  encodeTranscribeCall,
  type SpeechToTextClient,
  type TranscribeAnswer,
  type TranscribeCallFields,
} from '@switchyard/worker-protocol/stt.codec.js';
import { WorkerChannel } from '@switchyard/worker-protocol/worker-channel.js';
import { decodeFailure } from '../../../src/contracts/errors/status.codec.js';
import { type DomainError } from '../../../src/core/errors/domain-error.js';
import { RequestPriority } from '../../../src/core/request/request-priority.js';

const LIMITS = {
  maxMessageBytes: -1,
  keepaliveTimeMs: 2 ** 31 - 1,
  keepaliveTimeoutMs: 20_000,
};

export interface SentCall {
  readonly call: ClientUnaryCall;
  /** Never rejects. */
  readonly outcome: Promise<TranscribeAnswer | DomainError>;
}

/** A gateway's side of one STT worker, with real calls on one channel. */
export class SttCaller {
  readonly client: SpeechToTextClient;
  readonly health: HealthClient;

  constructor(readonly address: string) {
    const security = channelSecurity();
    const channel = new WorkerChannel({ address, limits: LIMITS, security }, () => {
      // Each call says so itself.
    });
    this.client = channel.stt;
    this.health = new HealthStub(address, security.credentials);
  }

  send(requestId: string, change: Partial<TranscribeCallFields> = {}): SentCall {
    const message = encodeTranscribeCall({
      requestId,
      priority: RequestPriority.BATCH,
      group: { id: requestId, size: 1 },
      ...PLAIN_TRANSCRIPTION,
      audio: Buffer.from(requestId),
      filename: 'a.wav',
      ...change,
    });
    let call!: ClientUnaryCall;
    const outcome = new Promise<TranscribeAnswer | DomainError>(resolve => {
      call = this.client.transcribeFile(message, (error, reply) =>
        resolve(error ? decodeFailure(error) : decodeTranscript(reply)),
      );
    });
    return { call, outcome };
  }

  cancel(requestId: string): Promise<boolean> {
    return new Promise((resolve, reject) => {
      this.client.cancel({ requestId, reason: 'client', attempt: '' }, (error, reply) =>
        error ? reject(error) : resolve(reply.acknowledged),
      );
    });
  }

  report(): Promise<WorkerHealthReport> {
    return new Promise((resolve, reject) => {
      this.client.health({}, (error, reply) =>
        error ? reject(error) : resolve(decodeHealth(reply)),
      );
    });
  }

  /** Resolves when the worker has exactly `count` requests. */
  async inFlight(count: number): Promise<void> {
    while ((await this.report()).inFlight !== count);
  }

  close(): void {
    this.client.close();
    this.health.close();
  }
}
