import { type AddressInfo } from 'node:net';
import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  Logger,
  type OnModuleDestroy,
  type OnModuleInit,
} from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { firstValueFrom, map, race, Subject, type Subscription, timer } from 'rxjs';
import { type GatewayMessage, type ProcessorMessage } from '../../../contracts/batch-processor/processor-link.js';
import { TOKEN_SECRET } from '../../../platform/auth/internal-tokens.js';
import { type ProcessorLink } from '../../../platform/config/processor-link.js';
import { SETTINGS, type Settings } from '../../../platform/config/settings.js';
import { ProcessLog } from '../../../platform/process/process-log.js';
import { ProcessSupervisor } from '../../../platform/process/process-supervisor.js';
import { RestartBackoff } from '../../../platform/process/restart-backoff.js';
import { PROCESSOR_LAUNCH, type ProcessorLaunch } from './processor-launch.js';

/** `off`: batches are run by processors elsewhere, or not at all; `down`: it ended and is started again after a pause. */
export type ProcessorState = 'off' | 'starting' | 'ready' | 'down';

export interface ProcessorView {
  readonly state: ProcessorState;
  readonly pid?: number;
  /** Processes started after the first. */
  readonly restarts: number;
  /** Why the last one ended, when it said so. */
  readonly problem?: string;
}

/**
 * The batch processor that a gateway brings along (`batch.embedded`): a child process, so that ingesting 200 MB never holds
 * up a request. It starts when the gateway listens, since lines come back over loopback, and is the first to be told to stop.
 */
@Injectable()
export class EmbeddedProcessor implements OnModuleInit, OnModuleDestroy, BeforeApplicationShutdown {
  #supervisor: ProcessSupervisor | undefined;
  #state: ProcessorState = 'off';
  #listening: Subscription | undefined;
  readonly #metricsTexts = new Subject<string>();

  constructor(
    @Inject(SETTINGS) private readonly settings: Settings,
    @Inject(PROCESSOR_LAUNCH) private readonly launch: ProcessorLaunch,
    private readonly adapterHost: HttpAdapterHost,
    @Inject(TOKEN_SECRET) private readonly secret: Buffer,
  ) {}

  get view(): ProcessorView {
    const { pid, restarts = 0, lastExit } = this.#supervisor ?? {};
    const problem = this.#state === 'down' ? lastExit?.reason : undefined;
    return { state: this.#state, ...(pid && { pid }), restarts, ...(problem && { problem }) };
  }

  onModuleInit(): void {
    if (this.settings.batch.embedded) this.#listening = this.adapterHost.listen$.subscribe(() => this.#start());
  }

  /** A batch was created or cancelled: it need not wait for the next poll. */
  wake(): void {
    this.#send({ type: 'wake' });
  }

  /** What it counts, for a scrape; '' when there is none, or it does not answer in time. */
  metrics(): Promise<string> {
    if (this.#state !== 'ready') return Promise.resolve('');
    const text = firstValueFrom(race(this.#metricsTexts, timer(METRICS_MS).pipe(map(() => ''))));
    this.#send({ type: 'metrics' });
    return text;
  }

  /** Before anything drains: it sends no more lines, and those in flight end with the other requests. */
  onModuleDestroy(): void {
    this.#listening?.unsubscribe();
    void this.#supervisor?.stop();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.#supervisor?.stop();
    this.#state = 'off';
  }

  #start(): void {
    const { workers, server } = this.settings;
    this.#supervisor = new ProcessSupervisor({
      what: 'batch processor',
      command: this.launch.command,
      args: this.launch.args,
      env: this.launch.environment(this.#link()),
      startTimeoutMs: workers.startTimeoutMs,
      stopGraceMs: server.shutdownGraceMs,
      backoff: new RestartBackoff({ firstMs: workers.restartMinMs, longestMs: workers.restartMaxMs }),
      log: new ProcessLog(new Logger('BatchProcessor'), 'batch', 'processor'),
      nowMs: () => performance.now(),
      onRestart: () => undefined,
    });
    this.#supervisor.start({
      onStarting: () => (this.#state = 'starting'),
      onMessage: message => this.#onMessage(message as ProcessorMessage),
      onReady: () => (this.#state = 'ready'),
      onGone: () => (this.#state = 'down'),
    });
  }

  #send(message: GatewayMessage): void {
    this.#supervisor?.send(message);
  }

  #onMessage(message: ProcessorMessage): void {
    if (message.type === 'metrics') this.#metricsTexts.next(message.text);
  }

  #link(): ProcessorLink {
    const { address, family, port } = this.#address();
    const host = ANYWHERE[address] ?? address;
    const gatewayUrl = `http://${family === 'IPv6' && host.includes(':') ? `[${host}]` : host}:${port}`;
    return { gatewayUrl, tokenSecret: this.secret.toString('base64') };
  }

  #address(): AddressInfo {
    const server = this.adapterHost.httpAdapter.getHttpServer() as { address(): AddressInfo };
    return server.address();
  }
}

/** A scrape has little time, and the gateway's own metrics are ready. */
const METRICS_MS = 1000;

/** Addresses to listen on that nobody can call. */
const ANYWHERE: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };
