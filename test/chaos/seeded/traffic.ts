import { type RandomSource, seededRandom } from '../../bench/support/seeded-random.js';
import { pause } from '../../support/waiting.js';
import { chats } from './chats-operation.js';
import { batch, file } from './file-operations.js';
import {
  chat,
  streamChat,
  streamUpstream,
  transcribe,
  upstreamChat,
} from './interactive-operations.js';
import { type Ledger } from './ledger.js';
import { type Operation } from './operation.js';
import { realtime } from './realtime-operation.js';
import { async, background, cancel } from './stored-operations.js';
import { TenantClient } from './tenant-client.js';
import { type Topology } from './topology.js';

export const TENANTS = ['acme', 'globex'] as const;
/** Of each tenant, besides the one with batches. */
const CALLERS = 5;
const GAP_MS = 250;
export const ALL_CALLERS = TENANTS.length * (CALLERS + 1);

/** What callers do, and how often. */
const OPERATIONS = {
  transcription: [transcribe, 4],
  chat: [chat, 3],
  stream: [streamChat, 3],
  'upstream-chat': [upstreamChat, 2],
  'upstream-stream': [streamUpstream, 1],
  /** Many at once: only where it is asked for. */
  chats: [chats, 3],
  async: [async, 4],
  cancel: [cancel, 1],
  background: [background, 3],
  realtime: [realtime, 2],
  file: [file, 1],
  /** By a caller of each tenant who does nothing else. */
  batch: [batch, 0],
} satisfies Readonly<Record<string, readonly [Operation, number]>>;

export type OperationName = keyof typeof OPERATIONS;
export const OPERATION_NAMES = Object.keys(OPERATIONS) as readonly OperationName[];
export const USUAL_OPERATIONS = OPERATION_NAMES.filter(name => name !== 'chats');

export interface TrafficOptions {
  readonly topology: Topology;
  readonly ledger: Ledger;
  readonly operations: readonly OperationName[];
  readonly seed: number;
  /** A caller that waits longer is stuck. */
  readonly limitMs: number;
  /** No fault is one that a caller may notice. */
  readonly isCalm: boolean;
}

/**
 * Callers of two tenants, each with one request after the other, all drawn from the seed.
 */
export class Traffic {
  #isOver = false;
  readonly #callers: readonly Promise<void>[];

  constructor(private readonly options: TrafficOptions) {
    const { operations } = options;
    const drawn = operations.map(name => OPERATIONS[name]).filter(([, weight]) => weight > 0);
    this.#callers = TENANTS.flatMap((tenant, at) => {
      const caller = (number: number, next: (random: RandomSource) => Operation): Promise<void> =>
        this.#call(tenant, TENANTS[1 - at]!, number, next);
      const callers = drawn.length > 0 ? CALLERS : 0;
      const mixed = Array.from({ length: callers }, (_, number) =>
        caller(number, random => draw(random, drawn)),
      );
      return operations.includes('batch') ? [...mixed, caller(CALLERS, () => batch)] : mixed;
    });
  }

  /** No new requests; resolves when each is settled or a promise is broken. */
  async finish(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#callers);
  }

  async #call(
    tenant: string,
    other: string,
    caller: number,
    next: (random: RandomSource) => Operation,
  ): Promise<void> {
    // Both tenants draw the same: they ask alike, at the same time, under the same names.
    const random = seededRandom(this.options.seed * 1000 + caller);
    const [client, stranger] = [this.#client(tenant), this.#client(other)];
    for (let number = 0; !this.#isOver; number++) {
      const id = `${this.options.seed}-${caller}-${number}`;
      try {
        await next(random)({ client, stranger, random, id });
      } catch (error) {
        this.options.ledger.note(
          'wrong',
          `${id} of ${tenant}: the driver met ${error instanceof Error ? error.stack : String(error)}`,
        );
      }
      await pause(random() * GAP_MS);
    }
  }

  #client(tenant: string): TenantClient {
    const { topology, ...options } = this.options;
    return new TenantClient({
      ...options,
      ...{ url: topology.url, isShared: topology.name === 'cluster' },
      tenant,
      key: topology.keys[tenant]!,
    });
  }
}

function draw(random: RandomSource, mix: readonly (readonly [Operation, number])[]): Operation {
  let at = random() * mix.reduce((sum, [, weight]) => sum + weight, 0);
  return (mix.find(([, weight]) => (at -= weight) < 0) ?? mix[0]!)[0];
}
