import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
import { type Redis } from 'ioredis';
import { Subject } from 'rxjs';
import { type QueueJobClass } from '../keys.js';
import { PLACE_SCRIPTS } from '../order/place-scripts.js';
import { pairsOf, runOrderScript } from '../order/redis-order.js';
import { type QueueLink } from './queue-link.js';

/** What waits in the order of all gateways, while its body stays in its gateway. */
export interface Place {
  /** Begins with its tenant, as job ids do. Never reused. */
  readonly id: string;
  readonly class: QueueJobClass;
  /** Epoch milliseconds of Redis. */
  readonly sinceMs: number;
  /** What listings of the queue show of it: fields of a job. */
  readonly shown: object;
  /** Estimated device milliseconds. */
  readonly costMs: number;
  /** Accounts, the most preferred first. */
  readonly prefer: readonly string[];
  /** Accounts that are used only when there is no other. */
  readonly avoid: readonly string[];
  /** Requests that may be at its worker with it; undefined: it is no suspect (D-38). */
  readonly mostTogether: number | undefined;
  /** Weight of its tenant. */
  readonly weight: number;
  /** Whether a worker gave it back, so that its charge is returned. */
  readonly isReturned: boolean;
}

/** The slots of one worker process or upstream, as one gateway sees them. */
export interface SlotAccount {
  readonly account: string;
  readonly credits: number;
  /** Slots that REALTIME may take in addition. */
  readonly overdraft: number;
  /** Requests that this gateway has there without a grant. */
  readonly extra: number;
}

/** The place may be sent to that account now. */
export interface Grant {
  readonly id: string;
  readonly account: string;
}

export interface Beat {
  /** False when the grants of this gateway were forgotten. */
  readonly isKnown: boolean;
  /** Whether grants wait until every gateway has reported again. */
  readonly waits: boolean;
  readonly gateways: number;
  /** Number of this gateway among them, from 0. */
  readonly number: number;
  /** Earlier grants that it has not given back. */
  readonly held: readonly Grant[];
  readonly granted: readonly Grant[];
  /** What waits at all gateways, by class, and what they were granted. */
  readonly all: PlaceCounts;
}

export interface PlaceCounts {
  readonly realtime: number;
  readonly batch: number;
  readonly running: number;
}

/**
 * One order and one account of slots for the gateways that send to the same workers (D-58).
 * Whatever may free a slot or add a place runs the same script, "while a slot is free and
 * somebody waits: grant", so nothing is polled. Every method rejects while Redis is away.
 */
export class SharedPlaces {
  readonly #granted = new Subject<Grant & { readonly model: string; readonly atMs: number }>();
  /** Models by channel. */
  readonly #models = new Map<string, string>();
  #listener: Redis | undefined;

  /** What scripts of other gateways granted to this one. `atMs`: epoch milliseconds of Redis. */
  readonly granted$ = this.#granted.asObservable();

  /** @param gateway names this process, unlike any other */
  constructor(
    private readonly link: QueueLink,
    private readonly gateway: string,
  ) {}

  /** Receives grants of the model from now on. */
  listen(model: string): void {
    const channel = this.link.keys.granted(model, this.gateway);
    this.#models.set(channel, model);
    if (!this.#listener) {
      this.#listener = this.link.listener();
      this.#listener.on('message', (from: string, text: string) => this.#heard(from, text));
    }
    this.#listener.subscribe(channel).catch(() => undefined);
  }

  async enter(model: string, place: Place): Promise<readonly Grant[]> {
    const { id, sinceMs, costMs, weight, mostTogether = '' } = place;
    return grantsOf(
      await this.#run(model, 'enter', [
        id,
        place.class,
        Math.round(sinceMs),
        writeJson(place.shown),
        costMs,
        place.prefer.join('\n'),
        place.avoid.join('\n'),
        mostTogether,
        weight,
        place.isReturned ? 1 : 0,
      ]),
    );
  }

  /** They have ended, or do not wait any longer: what they hold is free. */
  async leave(model: string, ids: readonly string[]): Promise<readonly Grant[]> {
    return ids.length === 0 ? [] : grantsOf(await this.#run(model, 'leave', ids));
  }

  /** @param beyondMs device milliseconds more than estimated; negative: fewer */
  async settle(model: string, owner: string, level: QueueJobClass, beyondMs: number) {
    await this.#run(model, 'settle', [level, owner, beyondMs]);
  }

  /** @param isEmpty this gateway runs nothing that was granted */
  async beat(model: string, accounts: readonly SlotAccount[], isEmpty: boolean): Promise<Beat> {
    const told = accounts.flatMap(({ account, credits, overdraft, extra }) => [
      account,
      `${credits} ${overdraft} ${extra}`,
    ]);
    const reply = await this.#run(model, 'beat', [isEmpty ? 1 : 0, ...told]);
    const [known, waits, gateways, number, held, granted, ...counts] = reply as BeatReply;
    const [realtime, batch, running] = counts;
    return {
      isKnown: known === 1,
      waits: waits === 1,
      gateways,
      number,
      held: grantsOf(held),
      granted: grantsOf(granted),
      all: { realtime, batch, running },
    };
  }

  /** Releases everything that this gateway was granted. */
  async close(model: string): Promise<void> {
    await this.#run(model, 'close', []);
  }

  #run(model: string, name: keyof typeof PLACE_SCRIPTS, args: readonly (string | number)[]) {
    const { agingMs, agingShare } = this.link.access;
    const rules = [this.gateway, agingMs, agingShare];
    return runOrderScript(this.link, model, PLACE_SCRIPTS[name], [...rules, ...args]);
  }

  #heard(channel: string, text: string): void {
    const model = this.#models.get(channel);
    const [, atMs, id, account] = /^(\d+) (\S+) (.+)$/.exec(text) ?? [];
    if (model === undefined || id === undefined || account === undefined) return;
    this.#granted.next({ model, id, account, atMs: Number(atMs) });
  }
}

type BeatReply = [
  ...[known: number, waits: number, gateways: number, number: number],
  ...[held: string[], granted: string[], realtime: number, batch: number, running: number],
];

const grantsOf = (flat: unknown): Grant[] =>
  pairsOf(flat as string[]).map(([id, account]) => ({ id, account }));
