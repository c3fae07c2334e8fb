import { type GenerateCallFields } from '@switchyard/worker-protocol/generation.codec.js';
import { type DomainError } from '../core/errors/domain-error.js';
import { SpeechPace } from '../core/latency/speech-pace.js';
import { ProcessClock } from '../platform/clock/process-clock.js';
import { type WorkerSpec } from '../platform/config/worker-spec.js';
import { OpenAiHttpGenerator } from './engines/openai-http/generator.js';
import { readOpenAiHttpOptions } from './engines/openai-http/options.js';
import { HealthReporter } from './execution/health-reporter.js';
import { GenerationService } from './generation/generation.service.js';
import { InFlightCalls } from './lifecycle/in-flight-calls.js';
import { WorkerState } from './lifecycle/worker-state.js';

/**
 * Makes the worker of that model: what a worker process with an upstream engine consists
 * of, without the process and its gRPC server (D-37). Undefined: its engine computes, so
 * it has a process.
 */
export function inProcessWorker(spec: WorkerSpec) {
  const { model } = spec;
  if (model.engine !== 'openai-http' || model.kind !== 'llm') return undefined;
  return () => {
    const engine = new OpenAiHttpGenerator(readOpenAiHttpOptions(model));
    const state = new WorkerState();
    const calls = new InFlightCalls(state);
    const generation = new GenerationService(engine, new ProcessClock(), calls);
    const health = new HealthReporter(state, calls, engine, spec, new SpeechPace());
    return {
      load: async () => {
        const warnings: string[] = [];
        engine.onWarning = text => void warnings.push(text);
        await engine.load();
        state.ready();
        return warnings;
      },
      report: () => health.report(),
      generate: (call: GenerateCallFields, sink: Parameters<GenerationService['generate']>[2]) =>
        calls.run({ id: call.requestId, attempt: call.group.id }, undefined, signal =>
          generation.generate(call, signal, sink),
        ),
      cancel: (id: string, reason: string, attempt: string) => calls.cancel(id, reason, attempt),
      progress: (id: string, attempt: string) => calls.progress(id, attempt),
      abortAll: (error: DomainError) => calls.abortAll(error),
      close: () => {
        state.draining();
        return engine.close();
      },
    };
  };
}
