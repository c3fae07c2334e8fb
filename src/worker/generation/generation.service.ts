import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { urgencyOf } from '@switchyard/worker-protocol/call.codec.js';
import {
  type GenerateCallFields,
  type GenerationMessage,
} from '@switchyard/worker-protocol/generation.codec.js';
import { abortError } from '../../core/errors/abort-error.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { priorityLabel } from '../../core/request/request-priority.js';
import { ProcessClock } from '../../platform/clock/process-clock.js';
import {
  type GenerateItem,
  type GenerationEvent,
  type TextGenerator,
} from '../engines/text-generator.js';
import { ENGINE } from '../engines/worker-engine.js';
import { InFlightCalls } from '../lifecycle/in-flight-calls.js';
import { PrepStage } from '../lifecycle/prep-stage.js';

/**
 * Divides the time of a device among the generations that run on it: each moment counts
 * equally for all of them.
 */
export function sharedTime() {
  /** `eachMs`: share of a generation that has run since the beginning. */
  let [running, eachMs, atMs] = [0, 0, 0];
  const advance = (nowMs: number): void => {
    if (running > 0) eachMs += (nowMs - atMs) / running;
    atMs = nowMs;
  };
  return {
    /** A generation starts. @returns the mark that `since` takes */
    begin: (nowMs: number): number => {
      advance(nowMs);
      running += 1;
      return eachMs;
    },
    /** Its share of the time since `mark`, in milliseconds. */
    since: (mark: number, nowMs: number): number => {
      advance(nowMs);
      return eachMs - mark;
    },
    end: (nowMs: number): void => {
      advance(nowMs);
      running -= 1;
    },
  };
}

/**
 * Takes the messages of one generation in order; resolves when there is room for more,
 * which holds the engine back.
 */
type GenerationSink = (message: GenerationMessage) => Promise<void>;

interface Times {
  readonly arrivedMs: number;
  readonly startedMs: number;
  /** Mark of `sharedTime` at which the generation began. */
  readonly mark: number;
  firstChunkMs?: number;
}

/**
 * Generations side by side, as many as the engine takes: no groups are formed here
 * (D-21). The gateway leases a slot before it sends, so nothing waits here
 * unless another one sends, too.
 */
@Injectable()
export class GenerationService {
  #slots: PrepStage | undefined;
  #received = 0;
  readonly #time = sharedTime();

  constructor(
    @Inject(ENGINE) private readonly engine: TextGenerator,
    private readonly clock: ProcessClock,
    private readonly calls: InFlightCalls,
  ) {}

  /**
   * Resolves after `done`.
   * @throws DomainError this call's own failure, or the abort's error once the
   *   engine has stopped.
   */
  async generate(
    call: GenerateCallFields,
    signal: AbortSignal,
    sink: GenerationSink,
  ): Promise<void> {
    const arrivedMs = this.clock.nowMs();
    const { maxConcurrent, overdraft = 0 } = this.engine.info;
    this.#slots ??= new PrepStage(maxConcurrent + overdraft, this.clock);
    const place = { priority: call.priority, sequence: this.#received++ };
    await this.#slots.run(place, signal, async () => {
      const startedMs = this.clock.nowMs();
      const times = { arrivedMs, startedMs, mark: this.#time.begin(startedMs) };
      const computed = this.calls.onDevice([call.requestId], () => ({
        onDevice: true,
        deviceMs: this.#time.since(times.mark, this.clock.nowMs()),
        limitMs: call.group.timeLimitMs ?? 0,
      }));
      try {
        await sink(await this.#run(itemOf(call, signal), times, sink));
      } catch (error) {
        throw signal.aborted ? abortError(signal) : error;
      } finally {
        computed();
        this.#time.end(this.clock.nowMs());
      }
    });
  }

  async #run(item: GenerateItem, times: Times, sink: GenerationSink): Promise<GenerationMessage> {
    let done: GenerationMessage | undefined;
    for await (const event of this.engine.generate(item)) {
      if (item.signal.aborted) throw abortError(item.signal);
      if (event.type === 'done') done = this.#done(event, times, item.stream);
      else {
        times.firstChunkMs ??= this.clock.nowMs();
        await sink({ $case: 'chunk', value: Buffer.from(event.json) });
      }
    }
    if (done) return done;
    throw new DomainError(
      'engine_failed',
      'The engine ended a generation without saying that it is complete.',
    );
  }

  #done(
    event: Extract<GenerationEvent, { type: 'done' }>,
    times: Times,
    stream: boolean,
  ): GenerationMessage {
    const { usage, finishReasons } = event;
    const { arrivedMs, startedMs, firstChunkMs, mark } = times;
    // A whole answer comes at its end: its only chunk tells nothing of the first token.
    const seenMs = stream && firstChunkMs !== undefined ? firstChunkMs - startedMs : undefined;
    const firstTokenMs = event.firstTokenMs ?? seenMs;
    const nowMs = this.clock.nowMs();
    const shareMs = this.#time.since(mark, nowMs);
    const execution = {
      prepMs: 0,
      readyWaitMs: startedMs - arrivedMs,
      deviceMs: nowMs - startedMs,
      shareMs,
      batchSize: 1,
      batchId: randomUUID(),
    };
    return {
      $case: 'done',
      value: { usage, finishReasons: [...finishReasons], execution, firstTokenMs },
    };
  }
}

const itemOf = (call: GenerateCallFields, signal: AbortSignal): GenerateItem => ({
  ...call,
  priority: priorityLabel(call.priority),
  agingShare: call.group.agingShare,
  urgency: urgencyOf(call),
  firstOutputMs: call.group.firstOutputMs,
  signal,
});
