import { type AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  Logger,
  type OnModuleDestroy,
  type OnModuleInit,
} from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { RestartBackoff } from '@switchyard/engine-api/process/restart-backoff.js';
import { firstValueFrom, map, race, Subject, type Subscription, timer } from 'rxjs';
import { TOKEN_SECRET } from '../../../platform/auth/short-lived-tokens.js';
import {
  PROCESSOR_NODE_FLAGS,
  processorEnvironment,
  type ProcessorLink,
  type GatewayMessage,
  type ProcessorMessage,
} from '../../../platform/config/processor-link.js';
import { Settings } from '../../../platform/config/settings.js';
import { callableUrl } from '../../../platform/http/connections.js';
import { ProcessLog } from '../../../platform/logging/process-log.js';
import { ProcessSupervisor } from '../../../platform/process/process-supervisor.js';

/** The processor of this build, with the Node binary and the settings of the gateway. */
const PROGRAM = fileURLToPath(new URL('../../../../dist/main.batch.js', import.meta.url));

/**
 * The embedded batch processor of a gateway (`batch.embedded`): a child process, so that
 * ingesting 200 MB never delays a request. It starts when the gateway listens, since it
 * sends lines over loopback, and is stopped first.
 */
@Injectable()
export class EmbeddedProcessor implements OnModuleInit, OnModuleDestroy, BeforeApplicationShutdown {
  #supervisor: ProcessSupervisor | undefined;
  /** `off`: not embedded, or shut down. `down`: it ended and is restarted after a pause. */
  #state: 'off' | 'starting' | 'ready' | 'down' = 'off';
  #listening: Subscription | undefined;
  readonly #metricsTexts = new Subject<string>();

  constructor(
    private readonly settings: Settings,
    private readonly adapterHost: HttpAdapterHost,
    @Inject(TOKEN_SECRET) private readonly secret: Buffer,
  ) {}

  /** `restarts`: since the first start. `problem`: reason of the last exit, if known. */
  get view() {
    const { pid, restarts = 0, lastExit } = this.#supervisor ?? {};
    const problem = this.#state === 'down' ? lastExit?.reason : undefined;
    return { state: this.#state, pid, restarts, problem };
  }

  onModuleInit(): void {
    if (this.settings.batch.embedded)
      this.#listening = this.adapterHost.listen$.subscribe(() => this.#start());
  }

  /** A batch was created or cancelled: the processor looks at once. */
  wake(): void {
    this.#supervisor?.send({ type: 'wake' } satisfies GatewayMessage);
  }

  /** Its metrics as text; '' without a ready processor or an answer in time. */
  metrics(): Promise<string> {
    if (this.#state !== 'ready') return Promise.resolve('');
    const text = firstValueFrom(race(this.#metricsTexts, timer(METRICS_MS).pipe(map(() => ''))));
    this.#supervisor?.send({ type: 'metrics' } satisfies GatewayMessage);
    return text;
  }

  /**
   * Runs before the drain: no further lines are sent, and those in flight end with
   * the other requests.
   */
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
      command: process.execPath,
      args: [...PROCESSOR_NODE_FLAGS, PROGRAM],
      env: processorEnvironment(this.#link()),
      startTimeoutMs: workers.startTimeoutMs,
      startLimitMs: workers.startLimitMs,
      stopGraceMs: server.shutdownGraceMs,
      backoff: new RestartBackoff({
        firstMs: workers.restartMinMs,
        longestMs: workers.restartMaxMs,
      }),
      log: new ProcessLog(new Logger('BatchProcessor'), 'batch', 'processor'),
      nowMs: () => performance.now(),
      onRestart: () => undefined,
    });
    this.#supervisor.start({
      onStarting: () => (this.#state = 'starting'),
      onMessage: message => {
        const sent = message as ProcessorMessage;
        if (sent.type === 'metrics') this.#metricsTexts.next(sent.text);
      },
      onReady: () => (this.#state = 'ready'),
      onGone: () => {
        this.#state = 'down';
      },
    });
  }

  #link(): ProcessorLink {
    const server = this.adapterHost.httpAdapter.getHttpServer() as {
      address(): AddressInfo;
    };
    const { address, port } = server.address();
    const tokenSecret = this.secret.toString('base64');
    return { gatewayUrl: callableUrl(address, port), tokenSecret };
  }
}

/** Timeout of the processor's answer to a scrape. */
const METRICS_MS = 1000;
