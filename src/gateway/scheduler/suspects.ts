import { createHash, hash } from 'node:crypto';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DomainError } from '../../core/errors/domain-error.js';
import { PriorityQueue } from '../../core/queue/priority-queue.js';
import { RecentMap } from '../../core/request/recent-map.js';
import { DEFAULT_TENANT, type RequestKey } from '../../core/request/request-key.js';
import { SUSPECT, SuspectTenants } from '../../core/request/suspect-tenants.js';
import { ProcessClock } from '../../platform/clock/process-clock.js';
import { Settings } from '../../platform/config/settings.js';
import { DispatchEventBus } from '../../platform/events/events.module.js';
import { type TranscribeTask, type WorkerTask } from '../../worker-client/worker-task.js';
import { RequestRegistry } from '../registry/request-registry.js';
import { SharedRequestQueue } from '../shared-queue/shared-request-queue.js';

/** Milliseconds for which an input that ended an engine twice is refused. */
const REFUSED_MS = 600_000;

/** Inputs remembered at most. */
const MAX_INPUTS = 1000;

/**
 * What is known of inputs that end engines, and of the tenants that send them (D-51): learned from
 * requests that end as `worker_crashed`, asked by the intake.
 */
@Injectable()
export class Suspects implements OnModuleInit {
  readonly #tenants: SuspectTenants;
  /** Key: model and digest. Value: until when the input is refused. */
  readonly #inputs = new RecentMap<number>(MAX_INPUTS);
  /** Digests of the inputs of suspects that run, computed while the input still exists. */
  readonly #running = new Map<RequestKey, Promise<string | undefined>>();

  constructor(
    private readonly bus: DispatchEventBus,
    private readonly registry: RequestRegistry,
    private readonly queue: PriorityQueue,
    private readonly shared: SharedRequestQueue,
    private readonly clock: ProcessClock,
    private readonly settings: Settings,
  ) {
    this.#tenants = new SuspectTenants(settings.scheduling.suspectMs);
  }

  onModuleInit(): void {
    this.bus.on('requeued', ({ key, code }) => {
      const payload = this.registry.record(key)?.request.payload;
      if (code !== 'worker_lost' || !payload) return;
      this.#running.set(
        key,
        digestOf(payload).catch(() => undefined),
      );
    });
    this.bus.on('settled', ({ key, model, tenant, code }) => {
      const digest = this.#running.get(key);
      this.#running.delete(key);
      if (code !== 'worker_crashed') return;
      this.#crashed(model, tenant);
      void digest?.then(known => {
        if (known) this.#inputs.add(`${model}\n${known}`, this.clock.nowMs() + REFUSED_MS);
      });
    });
  }

  #crashed(model: string, tenant: string | undefined): void {
    const name = tenant ?? DEFAULT_TENANT;
    this.#tenants.crashed(model, name, this.clock.nowMs());
    if (!this.placement(model, name)) return;
    for (const waiting of this.queue.suspect(model, name))
      this.registry.record(waiting)?.suspected();
    void this.shared.suspect(model, tenant, this.settings.scheduling.suspectMs);
  }

  /** How a request of that tenant may be placed. Without conditions if the tenant is no suspect. */
  placement(model: string, tenant = DEFAULT_TENANT) {
    return this.#tenants.isSuspect(model, tenant, this.clock.nowMs()) ? SUSPECT : undefined;
  }

  /**
   * As `demandHarmless`, of an upload, which must be read for it. Costs nothing while no input
   * has ended an engine.
   */
  async demandHarmlessAudio(model: string, audio: TranscribeTask['audio']): Promise<void> {
    if (this.#inputs.size > 0) this.#demandUnknown(model, await digestOfAudio(audio));
  }

  /**
   * Checks text.
   * @throws DomainError `worker_crashed` for bytes that ended an engine of the model twice
   *   within the last 10 minutes
   */
  demandHarmless(model: string, payload: WorkerTask): void {
    if (this.#inputs.size > 0 && payload.kind !== 'transcribe')
      this.#demandUnknown(model, digestOfText(payload));
  }

  #demandUnknown(model: string, digest: string | undefined): void {
    this.#inputs.dropWhile(untilMs => untilMs <= this.clock.nowMs());
    if (!digest || !this.#inputs.get(`${model}\n${digest}`)) return;
    throw new DomainError(
      'worker_crashed',
      `The same input ended the engine of ${model} twice within the last 10 minutes; it is refused until then.`,
    );
  }
}

const digestOf = (payload: WorkerTask): Promise<string | undefined> =>
  payload.kind === 'transcribe'
    ? digestOfAudio(payload.audio)
    : Promise.resolve(digestOfText(payload));

const digestOfText = (payload: Exclude<WorkerTask, TranscribeTask>): string =>
  hash('sha256', payload.kind === 'synthesize' ? payload.text : payload.body, 'base64url');

/** SHA-256 of the audio; undefined: the gateway does not have its bytes. */
async function digestOfAudio(audio: TranscribeTask['audio']): Promise<string | undefined> {
  if ('url' in audio) return undefined;
  const digest = createHash('sha256');
  for await (const chunk of audio.chunks()) digest.update(chunk);
  return digest.digest('base64url');
}
