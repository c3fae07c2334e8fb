import { Logger } from '@nestjs/common';
import { type EngineBase, type EngineInfo } from '@switchyard/engine-api/engine.js';
import { exitText, SupervisedProcess } from '@switchyard/engine-api/process/child-process.js';
import { type SpeechRecognizer } from '@switchyard/engine-api/speech-recognizer.js';
import { type SherpaDiarizer } from '@switchyard/engine-sherpa/diarizer.js';
import {
  channelSecurity,
  knownAs,
  localSecurity,
} from '@switchyard/worker-protocol/channel-security.js';
import { type WorkerHealthReport } from '@switchyard/worker-protocol/health.codec.js';
import { localToken, LOCAL_TOKEN_VARIABLE } from '@switchyard/worker-protocol/local-token.js';
import {
  neededMessageBytes,
  reportProblem,
  whyNotReady,
} from '@switchyard/worker-protocol/report-check.js';
import { filledIn } from '../platform/config/model-fields.js';
import { inheritedEnvironment } from '../platform/config/process-environment.js';
import {
  type BridgedWorker,
  EXTERNAL_GRACE_MS,
  type WorkerSpec,
} from '../platform/config/worker-spec.js';
import { ProcessLog } from '../platform/logging/process-log.js';
import { freePort } from '../platform/process/listen-check.js';
import { WorkerConnection } from '../worker-client/worker-connection.js';
import { isUnreachable } from '../worker-client/worker-health.js';

const LOOPBACK = '127.0.0.1';
/** The exit of a program is reported when its output has ended, or a second later. */
const EXIT_NOTICE_MS = 2000;

/** Why the worker takes no work yet. */
export interface Waiting {
  readonly message: string;
  /** False: it has just been started, and opens its port when it can. */
  readonly isProblem: boolean;
  /** It answers, and reports that it is starting. */
  readonly isStarting?: boolean | undefined;
}

/**
 * The one worker behind this bridge: reached at an address, or a program that this
 * process runs. It is lost once: then the bridge gives back what it holds and ends, and
 * its supervisor starts another one.
 */
export class ExternalWorker implements EngineBase {
  /** Resolves with the reason when the worker takes no more work. */
  readonly lost: Promise<string>;
  /** Finds out who speaks; absent: no models for it are configured. */
  readonly speakersOf?: SpeechRecognizer['speakersOf'];
  readonly #bridged: BridgedWorker;
  readonly #ready = Promise.withResolvers<void>();
  readonly #lost = Promise.withResolvers<string>();
  #process: SupervisedProcess | undefined;
  #exited = Promise.resolve();
  #connection: WorkerConnection | undefined;
  #report: WorkerHealthReport | undefined;
  /**
   * While its connection is replaced: calls wait until a probe has been answered,
   * or has failed.
   */
  #doubt: PromiseWithResolvers<void> | undefined;

  constructor(
    private readonly options: {
      readonly spec: WorkerSpec;
      /** Tells its speakers apart, in this process; absent: it does so itself or cannot. */
      readonly diarizer: SherpaDiarizer | undefined;
      readonly onWaiting: (waiting: Waiting) => void;
    },
  ) {
    const { spec, diarizer } = options;
    if (!spec.bridged) throw new Error(`model ${spec.model.id} has no worker to bridge to`);
    this.#bridged = spec.bridged;
    if (diarizer) this.speakersOf = (...file) => diarizer.speakersOf(...file);
    this.lost = this.#lost.promise;
  }

  get id(): string {
    return this.options.spec.workerId;
  }

  get kind(): WorkerSpec['model']['kind'] {
    return this.options.spec.model.kind;
  }

  /**
   * What requests may ask for is decided by models.yaml, as where gateways call
   * the worker themselves.
   */
  get info(): EngineInfo {
    if (!this.#report) throw new Error('the worker has not been ready yet');
    const { engine, device, revision, maxBatch, maxConcurrent, streams } = this.#report;
    const { capabilities, languages } = this.options.spec.model;
    const abilities = {
      capabilities: capabilities as EngineInfo['capabilities'],
      languages,
    };
    return { engine, device, revision, maxBatch, maxConcurrent, streams, ...abilities };
  }

  /** Resolves when the worker takes work. */
  async load(): Promise<void> {
    await this.options.diarizer?.load();
    const address = this.#bridged.address ?? (await this.#start());
    const { care, remote, serverName } = this.#bridged;
    this.#connection = new WorkerConnection({
      at: address,
      kind: this.kind,
      care,
      isSupervised: false,
      security:
        this.#bridged.address === undefined
          ? localSecurity(localToken(this.options.spec.workerId))
          : knownAs(channelSecurity(remote), serverName),
      events: {
        onReport: report => this.#onReport(report),
        onProbeFailure: error => this.#onFailure(error),
        onUnhealthy: () => this.#onUnhealthy(),
        onConnectionLost: () => this.#onConnectionLost(),
      },
    });
    this.#connection.health.probeNow();
    const lost = this.lost.then(reason => {
      throw new Error(reason);
    });
    await Promise.race([this.#ready.promise, lost]);
  }

  /** The connection, once it is known to work. */
  async connected(): Promise<WorkerConnection> {
    await this.#doubt?.promise;
    if (!this.#connection) throw new Error('the worker has not been ready yet');
    return this.#connection;
  }

  /** It takes no more work; what it has may end. */
  lose(reason: string): void {
    this.#lost.resolve(reason);
    this.#doubt?.resolve();
  }

  /** Ends its program: SIGTERM, grace, SIGKILL. */
  async close(): Promise<void> {
    this.#connection?.abort();
    await this.options.diarizer?.close();
    const running = this.#process;
    if (!running) return;
    running.terminate();
    const reason = `still running ${EXTERNAL_GRACE_MS} ms after SIGTERM`;
    const timer = setTimeout(() => running.kill(reason), EXTERNAL_GRACE_MS);
    await this.#exited;
    clearTimeout(timer);
  }

  /** @returns where it was told to listen */
  async #start(): Promise<string> {
    const { id, command = [], options } = this.options.spec.model;
    const port = String(await freePort(LOOPBACK));
    const device = typeof options.device === 'string' ? options.device : '';
    const [program = '', ...args] = command.map(text =>
      filledIn(text, { host: LOOPBACK, port, model: id, device }),
    );
    const log = new ProcessLog(new Logger('Worker'), program, 'program');
    const exited = Promise.withResolvers<void>();
    this.#exited = exited.promise;
    this.#process = new SupervisedProcess({
      command: program,
      args,
      env: {
        ...inheritedEnvironment(),
        [LOCAL_TOKEN_VARIABLE]: localToken(this.options.spec.workerId),
        ...this.#bridged.env,
      },
      foreign: true,
      onMessage: () => undefined,
      onLine: (stream, line) => log.line(stream, line),
      onExit: exit => {
        this.#process = undefined;
        this.lose(exitText(exit));
        exited.resolve();
      },
    });
    return `${LOOPBACK}:${port}`;
  }

  #onReport(report: WorkerHealthReport): void {
    const { model, uploadLimitBytes } = this.options.spec;
    const maxMessageBytes = neededMessageBytes(model.kind, uploadLimitBytes);
    const problem = reportProblem(report, model, maxMessageBytes);
    const reason = problem ?? whyNotReady(report);
    if (reason === undefined) return this.#serves(report);
    if (this.#report) this.lose(reason);
    else {
      const isProblem = problem !== undefined;
      this.options.onWaiting({
        message: reason,
        isProblem,
        isStarting: isProblem ? undefined : true,
      });
    }
  }

  #serves(report: WorkerHealthReport): void {
    this.#report = report;
    this.#ready.resolve();
    this.#doubt?.resolve();
    this.#doubt = undefined;
  }

  #onFailure(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    if (this.#doubt) this.#loseUnlessExited(message);
    if (this.#report) return;
    this.options.onWaiting({
      message,
      isProblem: this.#process === undefined || !isUnreachable(error),
    });
  }

  /**
   * The connections of a program that dies break before its exit is seen,
   * which says more.
   */
  #loseUnlessExited(reason: string): void {
    if (!this.#process) return this.lose(reason);
    setTimeout(() => this.lose(reason), EXIT_NOTICE_MS).unref();
  }

  #onUnhealthy(): void {
    if (!this.#report) return;
    const reason = `${this.#bridged.care.health.failures} health probes failed in a row`;
    this.lose(reason);
    this.#connection?.resetAll(reason);
    this.#process?.kill(reason);
  }

  /** The probe that gets no answer reports it again: its outcome must count. */
  #onConnectionLost(): void {
    if (!this.#report || this.#doubt) return;
    this.#doubt = Promise.withResolvers();
    this.#connection?.health.probeNow();
  }
}
