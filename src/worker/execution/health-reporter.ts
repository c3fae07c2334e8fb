import { Inject, Injectable } from '@nestjs/common';
import { type EngineInfo } from '@switchyard/engine-api/engine.js';
import { type WorkerHealthReport } from '@switchyard/worker-protocol/health.codec.js';
import { SpeechPace } from '../../core/latency/speech-pace.js';
import { WorkerSpec } from '../../platform/config/worker-spec.js';
import { ENGINE, type WorkerEngine } from '../engines/worker-engine.js';
import { InFlightCalls } from '../lifecycle/in-flight-calls.js';
import { WorkerState } from '../lifecycle/worker-state.js';
import { deviceLimits } from './micro-batcher.js';
import { overdraftOf } from './sentences.js';

/**
 * The answer of the Health RPCs. Until the engine has loaded, its limits are reported as
 * the smallest possible.
 */
@Injectable()
export class HealthReporter {
  constructor(
    private readonly state: WorkerState,
    private readonly calls: InFlightCalls,
    @Inject(ENGINE) private readonly engine: WorkerEngine,
    private readonly spec: WorkerSpec,
    private readonly pace: SpeechPace,
  ) {}

  report(): WorkerHealthReport {
    const { model, maxMessageBytes } = this.spec;
    return {
      ...this.#engineInfo(),
      // Another server computes in its place, and cannot be reached.
      state:
        this.engine.away$?.value && this.state.phase === 'ready' ? 'starting' : this.state.phase,
      model: model.id,
      kind: model.kind,
      inFlight: this.calls.size,
      maxMessageBytes,
      generation: this.engine.kind === 'llm' ? this.engine.activity : undefined,
    };
  }

  #engineInfo(): EngineInfo {
    if (this.state.phase !== 'starting') {
      const { info } = this.engine;
      return {
        ...info,
        overdraft: overdraftOf(this.engine, this.spec, this.pace),
        ...deviceLimits(info, this.spec),
      };
    }
    const { engine, capabilities, languages } = this.spec.model;
    return {
      engine,
      device: '',
      revision: '',
      maxBatch: 1,
      maxConcurrent: 1,
      streams: 0,
      capabilities: capabilities as EngineInfo['capabilities'],
      languages,
    };
  }
}
