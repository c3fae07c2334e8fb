import { Readable } from 'node:stream';
import { Inject, Injectable } from '@nestjs/common';
import { PLAIN_TRANSCRIPTION } from '@switchyard/engine-api/speech-recognizer.js';
import { deviceShareMs } from '@switchyard/worker-protocol/call.codec.js';
import { type SessionConfig } from '../../../contracts/realtime/session-config.js';
import { DomainError } from '../../../core/errors/domain-error.js';
import { keepsPace } from '../../../core/latency/live-sessions.js';
import { ServiceTimes } from '../../../core/latency/service-times.js';
import { requestKey } from '../../../core/request/request-key.js';
import { RequestPriority } from '../../../core/request/request-priority.js';
import { type Principal } from '../../../platform/auth/principal.js';
import { type StreamHandle } from '../../../worker-client/stream-handle.js';
import { type InferenceCaller, InferenceService } from '../../inference/inference.service.js';
import { ModelCatalog } from '../../models/model-catalog.js';
import { EmbeddedQueue } from '../../queue/embedded-queue.js';
import { StreamPlaces } from '../../shared-queue/stream-places.js';
import { WorkerPoolService } from '../../worker-pool/worker-pool.service.js';
import { isReady } from '../../worker-pool/worker-view.js';
import { InterimPasses } from './interim-passes.js';
import { UtteranceStream } from './utterance-stream.js';

/** Room is made when a session ends. */
const TRY_AGAIN_MS = 1000;

/**
 * What recognises the speech of live sessions: streams of workers, or utterances as requests at
 * REALTIME priority, which are counted as those of HTTP are.
 */
@Injectable()
export class Recognisers {
  @Inject() private readonly places!: StreamPlaces;
  /** Utterance streams by model, for models without live streams. */
  readonly #live = new Map<string, Set<UtteranceStream>>();

  constructor(
    private readonly catalog: ModelCatalog,
    private readonly pool: WorkerPoolService,
    private readonly inference: InferenceService,
    private readonly interims: InterimPasses,
    private readonly queue: EmbeddedQueue,
    private readonly times: ServiceTimes,
  ) {}

  /** Its workers take live streams; of others each utterance is a request. */
  streams(model: string): boolean {
    return this.catalog.get(model).capabilities.includes('stream');
  }

  /** Leases a streaming slot, if need be. @throws DomainError when there is none. */
  open(sessionId: string, model: string, config: SessionConfig, owner: Principal): StreamHandle {
    const { language, prompt, turnDetection, format } = config;
    if (!this.streams(model))
      return this.#admitted(model, {
        sampleRate: format.sampleRate,
        voiceActivity: turnDetection ?? undefined,
        interim: this.interims.of(model),
        recognise: (wav, durationS, name, draft) => {
          const caller = { ...owner, id: `${sessionId}.${name}` };
          const start = () =>
            this.#recognise(caller, {
              model,
              wav,
              durationS,
              prompt,
              draft: draft !== undefined,
              language: language || (draft?.language ?? ''),
            });
          return draft ? this.interims.run(model, requestKey(caller), start) : start();
        },
      });
    const stream = {
      sessionId,
      language,
      prompt,
      partials: true,
      sampleRate: format.sampleRate,
      ...(turnDetection && { voiceActivity: turnDetection }),
    };
    return this.places.open(model, stream, owner.tenant);
  }

  /**
   * Its workers are running or starting, unless an operator unloaded it or
   * none can start.
   */
  loads(model: string): boolean {
    const workers = this.pool.of(model);
    return !workers?.isHeld && workers?.loadFailure === undefined;
  }

  /** What a session waits for whose model is not on the device that it shares; undefined: it is. */
  awaited(model: string): ReturnType<EmbeddedQueue['awaited']> {
    return this.queue.awaited(model, RequestPriority.REALTIME);
  }

  /** @throws DomainError `queue_full`: its workers would not keep up with all that is said */
  #admitted(model: string, options: ConstructorParameters<typeof UtteranceStream>[0]) {
    const live = this.#live.get(model) ?? new Set();
    const workers = this.pool.of(model)?.view().workers.filter(isReady) ?? [];
    const devices = workers.reduce((sum, { health }) => sum + (health?.maxConcurrent ?? 0), 0);
    const times = this.times.of(model);
    // Files are longer, and take less for a second.
    const msPerS = times.live.value ?? times.costs.estimateMs({ input: 1 });
    if (devices > 0 && !keepsPace([...live], msPerS, devices))
      throw new DomainError(
        'queue_full',
        `\`${model}\` cannot recognise one more live session as fast as it is spoken; ` +
          `it has ${live.size}.`,
        { retryAfterMs: TRY_AGAIN_MS },
      );
    const stream = new UtteranceStream(options);
    this.#live.set(model, live.add(stream));
    void stream.finished.then(() => live.delete(stream));
    return stream;
  }

  /**
   * What a session says in one utterance, for a model without live streams.
   * @throws DomainError, such as `queue_full`
   */
  #recognise(
    { id, tenant, terms }: Pick<InferenceCaller, 'id' | 'tenant' | 'terms'>,
    {
      model,
      wav,
      durationS,
      ...fields
    }: {
      readonly model: string;
      /** A complete WAV file with the utterance. */
      readonly wav: Buffer;
      readonly durationS: number;
      readonly language: string;
      readonly prompt: string;
      /** Its utterance is still being spoken: whatever else waits goes first. */
      readonly draft: boolean;
    },
  ) {
    const priority = fields.draft ? RequestPriority.BATCH : RequestPriority.REALTIME;
    const caller = { id, tenant, terms, priority };
    const audio = {
      size: wav.length,
      bytes: () => Promise.resolve(wav),
      chunks: () => Readable.from([wav]),
      dispose: () => Promise.resolve(),
    };
    const file = { kind: 'transcribe', audio, durationS, filename: 'utterance.wav' } as const;
    const request = this.inference.start(caller, {
      model,
      bytes: wav.length,
      audioDurationS: durationS,
      payload: { ...PLAIN_TRANSCRIPTION, ...fields, ...file },
    });
    const transcript = request.answer('transcript').then(({ reply }) => {
      const deviceMs = fields.draft ? undefined : deviceShareMs(reply.execution);
      if (deviceMs !== undefined) this.times.of(model).live.add(deviceMs / durationS, durationS);
      return reply.transcript;
    });
    return { transcript, cancel: () => request.cancel('client') };
  }
}
