import { Readable } from 'node:stream';
import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
import { invalidField } from '@switchyard/engine-api/field-problems.js';
import { type FastifyReply } from 'fastify';
import { filter, firstValueFrom, fromEvent, ReplaySubject, takeUntil } from 'rxjs';
import { SSE_DONE, sseEvent } from '../../../contracts/formats/server-sent-event.js';
import { FINAL_EVENTS, type ResponseEvent } from '../../../contracts/openai/responses.js';
import { shownError } from '../../../core/errors/domain-error.js';
import { type ResponseProgress, type ResponseRef } from '../../../core/request/response-record.js';
import { shuttingDown } from '../../../platform/http/passing-errors.js';
import { sendEvents } from '../../inference/output-stream.js';
import { failureOf } from '../writer/response-generation.js';
import { ResponseEventLog } from './response-event-log.js';
import { isOpen, ResponseRecords } from './response-records.js';

/** Groups of events that are read at a time. */
const PORTION = 16;
/** Portions of one response that stay in memory for other followers. */
const KEPT_PORTIONS = 4;
/** How often events of other gateways are looked for; those of this one are reported. */
const POLL_MS = 250;

/** An event as it is streamed; the final one is followed by `[DONE]`. */
export const eventFrame = (event: ResponseEvent): string =>
  sseEvent(event.type, event) + (FINAL_EVENTS.has(event.type) ? SSE_DONE : '');

/**
 * Events of background responses for readers on any gateway: only what is durable, in
 * order, each once.
 */
@Injectable()
export class ResponseFeed implements OnModuleDestroy {
  readonly #stop = new AbortController();
  readonly #readers = new Map<string, SharedReader>();

  constructor(
    private readonly log: ResponseEventLog,
    private readonly records: ResponseRecords,
  ) {}

  /** Ends all feeds with an event, so that readers continue at another gateway. */
  onModuleDestroy(): void {
    this.#stop.abort();
  }

  /**
   * @param after number of the last event that the caller has; -1: none
   * @throws DomainError `response_not_found`, or `invalid_value` for one whose events
   *   are not stored, or a number beyond the last
   */
  async demandEvents(ref: ResponseRef, after: number): Promise<void> {
    const { hasEvents, nextSequence } = await this.records.head(ref);
    const last = nextSequence - 1;
    if (hasEvents && after > last)
      throw invalidField(
        'starting_after',
        `\`starting_after\` must be the number of an event so far, at most ${last}; got ${after}.`,
      );
    if (hasEvents) return;
    const { background } = await this.records.response(ref);
    const reason = background
      ? 'its events are no longer stored; retrieve it without `stream`'
      : 'it was not created with `background: true`';
    throw invalidField('stream', `\`stream\`: ${ref.id} cannot be streamed: ${reason}.`);
  }

  /**
   * Events after number `after` (-1: all) until the final one. A slow follower holds one
   * portion of them.
   * @throws DomainError `response_not_found` when the response is deleted meanwhile,
   *   `storage_unavailable`, `shutting_down`
   */
  async *follow(ref: ResponseRef, after: number, left: AbortSignal): AsyncGenerator<Buffer> {
    for await (const { frames } of this.#portions(ref, after, left)) yield* frames;
  }

  /**
   * Sends what `follow` reads, until the caller leaves. When it fails, the last event says so;
   * as long as none was sent, the status.
   */
  send(reply: FastifyReply, headers: Record<string, string>, ref: ResponseRef, after = -1): void {
    const left = new AbortController();
    reply.raw.once('close', () => left.abort());
    sendEvents(reply, headers, Readable.from(this.#toItsEnd(ref, after, left.signal)));
  }

  async *#toItsEnd(ref: ResponseRef, after: number, left: AbortSignal): AsyncGenerator<Buffer> {
    let last = after;
    try {
      for await (const portion of this.#portions(ref, after, left)) {
        yield* portion.frames;
        ({ last } = portion);
      }
    } catch (thrown) {
      if (last === after) throw thrown;
      const error = failureOf(shownError(thrown));
      // Not the next number: the response goes on, and `starting_after` finds the rest.
      const frame = eventFrame({ type: 'error', error, sequence_number: last });
      yield Buffer.from(frame + SSE_DONE);
    }
  }

  async *#portions(ref: ResponseRef, after: number, left: AbortSignal): AsyncGenerator<Portion> {
    const signal = AbortSignal.any([left, this.#stop.signal]);
    const reader = this.#join(ref);
    try {
      for (let last = after; await reader.hasMore(last, signal);) {
        const portion = await reader.read(last);
        yield portion;
        if (portion.isFinal) return;
        ({ last } = portion);
      }
      if (this.#stop.signal.aborted) throw shuttingDown();
    } finally {
      reader.leave();
    }
  }

  #join(ref: ResponseRef): SharedReader {
    const name = writeJson([ref.tenant, ref.id]);
    const reader = this.#readers.get(name) ?? new SharedReader(ref, this.log, this.records);
    this.#readers.set(name, reader);
    // One that failed or has no followers is replaced by the next.
    reader.join(() => this.#readers.get(name) === reader && this.#readers.delete(name));
    return reader;
  }
}

/**
 * What all followers of one response share: one look at its status per change, and each
 * portion of its events.
 */
class SharedReader {
  readonly #heads = new ReplaySubject<ResponseProgress>(1);
  readonly #portions = new Map<number, Promise<Portion>>();
  readonly #idle = new AbortController();
  #followers = 0;
  #end: (() => void) | undefined;

  constructor(
    private readonly ref: ResponseRef,
    private readonly log: ResponseEventLog,
    private readonly records: ResponseRecords,
  ) {}

  /** @param end called when it takes no more followers */
  join(end: () => void): void {
    this.#end ??= end;
    if (this.#followers++ === 0) void this.#watch();
  }

  leave(): void {
    if (--this.#followers > 0) return;
    this.#idle.abort();
    this.#end?.();
  }

  /**
   * Resolves when there are events after `last`; with false when there will be none, or
   * the signal is aborted.
   */
  async hasMore(last: number, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return false;
    const isMore = (head: ResponseProgress): boolean => head.nextSequence > last + 1;
    const next = this.#heads.pipe(
      filter(head => isMore(head) || !isOpen(head)),
      takeUntil(fromEvent(signal, 'abort')),
    );
    const head = await firstValueFrom(next, { defaultValue: undefined });
    return head !== undefined && isMore(head);
  }

  /** Events after `last`. */
  read(last: number): Promise<Portion> {
    const known = this.#portions.get(last);
    if (known) return known;
    const portion = readPortion(this.log, this.ref, last);
    this.#portions.set(last, portion);
    portion.catch(() => this.#portions.delete(last));
    const [oldest] = this.#portions.keys();
    if (this.#portions.size > KEPT_PORTIONS) this.#portions.delete(oldest!);
    return portion;
  }

  async #watch(): Promise<void> {
    try {
      for (let isRunning = true; isRunning && !this.#idle.signal.aborted;) {
        // Begun before the status is read, so that no change falls between the two.
        const changed = this.log.appended(this.ref, POLL_MS, this.#idle.signal);
        const head = await this.records.head(this.ref);
        this.#heads.next(head);
        isRunning = isOpen(head);
        if (isRunning) await changed;
      }
    } catch (error) {
      this.#end?.();
      this.#heads.error(error);
    }
  }
}

/** Consecutive events as they are streamed. */
interface Portion {
  readonly frames: readonly Buffer[];
  /** Number of the last one. */
  readonly last: number;
  /** No event follows: without events they were removed. */
  readonly isFinal: boolean;
}

async function readPortion(
  log: ResponseEventLog,
  ref: ResponseRef,
  after: number,
): Promise<Portion> {
  const events = await log.read(ref, after, PORTION);
  const { type, sequence_number: last } = events.at(-1) ?? { sequence_number: after };
  return {
    frames: events.map(({ token_ids: _, ...event }) => Buffer.from(eventFrame(event))),
    last,
    isFinal: type === undefined || FINAL_EVENTS.has(type),
  };
}
