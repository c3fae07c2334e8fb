import { type GenerateCallFields } from '../contracts/grpc/generation.codec.js';
import { type WorkerHealthReport } from '../contracts/grpc/health.codec.js';
import { type DomainError } from '../core/errors/domain-error.js';
import { ProcessClock } from '../platform/clock/clock.module.js';
import { type WorkerSpec } from '../platform/config/worker-spec.js';
import { OpenAiHttpGenerator } from './engines/openai-http/generator.js';
import { readOpenAiHttpTextOptions } from './engines/openai-http/options.js';
import { HealthReporter } from './execution/health-reporter.js';
import {
  type GenerationSink,
  GenerationService,
} from './generation/generation.service.js';
import { InFlightCalls } from './lifecycle/in-flight-calls.js';
import { WorkerState } from './lifecycle/worker-state.js';

/**
 * Makes the worker of that model. Undefined: its engine computes, so it has a process.
 */
export function inProcessWorker(
  spec: WorkerSpec,
): (() => InProcessGenerator) | undefined {
  const { model } = spec;
  if (model.engine !== 'openai-http' || model.kind !== 'llm') return undefined;
  return () =>
    new InProcessGenerator(
      new OpenAiHttpGenerator(readOpenAiHttpTextOptions(model)),
      spec,
    );
}

/**
 * What a worker process with an upstream engine consists of, without the process and its
 * gRPC server (D-37).
 */
class InProcessGenerator {
  readonly #state = new WorkerState();
  readonly #calls = new InFlightCalls(this.#state);
  readonly #generation: GenerationService;
  readonly #health: HealthReporter;

  constructor(
    private readonly engine: OpenAiHttpGenerator,
    spec: WorkerSpec,
  ) {
    this.#generation = new GenerationService(engine, new ProcessClock());
    this.#health = new HealthReporter(this.#state, this.#calls, engine, spec);
  }

  async load(): Promise<readonly string[]> {
    const warnings: string[] = [];
    this.engine.onWarning = text => void warnings.push(text);
    await this.engine.load();
    this.#state.ready();
    return warnings;
  }

  report(): WorkerHealthReport {
    return this.#health.report();
  }

  generate(call: GenerateCallFields, sink: GenerationSink): Promise<void> {
    return this.#calls.run(call.requestId, undefined, signal =>
      this.#generation.generate(call, signal, sink),
    );
  }

  cancel(id: string, reason: string): boolean {
    return this.#calls.cancel(id, reason);
  }

  abortAll(error: DomainError): void {
    this.#calls.abortAll(error);
  }

  close(): Promise<void> {
    this.#state.draining();
    return this.engine.close();
  }
}
