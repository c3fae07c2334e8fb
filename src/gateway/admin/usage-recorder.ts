import { Injectable, Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { type Subscription } from 'rxjs';
import {
  USAGE_SUMS,
  usageGroupName,
  type UsageRow,
  type UsageSums,
} from '../../core/access/usage-row.js';
import { type EventOf } from '../../core/dispatch/dispatch-event.js';
import { DEFAULT_TENANT } from '../../core/request/request-key.js';
import { DAY_MS } from '../../platform/config/setting-definition.js';
import { Settings } from '../../platform/config/settings.js';
import { UsageStore } from '../../platform/database/usage-store.js';
import { DispatchEventBus } from '../../platform/events/events.module.js';
import { type RecognisedAudio, SessionActivity } from '../realtime/session/session-activity.js';

/** What a killed process loses at most. */
const FLUSH_MS = 5000;
/** Of distinct groups between two writes; further ones are summed under one name. */
const MAX_GROUPS = 10_000;
/** No tenant or key can have this name. */
const OVERFLOW = '~other';

export const utcDay = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/**
 * Counts every settled request once, and the audio that live sessions recognised, by day,
 * tenant, key and model: summed in memory, added to the database every few seconds and at
 * shutdown. What the database does not take is added later.
 */
@Injectable()
export class UsageRecorder implements OnModuleInit, OnApplicationShutdown {
  readonly #logger = new Logger(UsageRecorder.name);
  /** Rows that are added to in place. */
  #sums = new Map<string, { -readonly [Name in keyof UsageRow]: UsageRow[Name] }>();
  #flushing = Promise.resolve();
  #events: Subscription | undefined;
  #timer: NodeJS.Timeout | undefined;
  #cleanedDay = '';
  #day = { name: '', endMs: 0 };

  constructor(
    private readonly store: UsageStore,
    private readonly settings: Settings,
    private readonly bus: DispatchEventBus,
    private readonly sessions: SessionActivity,
  ) {}

  onModuleInit(): void {
    this.#events = this.bus.on('settled', event => this.#add(rowOf(event, this.#today())));
    this.#events.add(
      this.sessions.recognised$.subscribe(audio => this.#add(rowOfLive(audio, this.#today()))),
    );
    this.#timer = setInterval(() => void this.flush(), FLUSH_MS).unref();
  }

  /** Runs after all requests have settled, so that their usage is stored. */
  async onApplicationShutdown(): Promise<void> {
    clearInterval(this.#timer);
    this.#events?.unsubscribe();
    await this.flush();
  }

  /**
   * Resolves when what was counted before is in the database, or could not be written.
   */
  flush(): Promise<void> {
    return (this.#flushing = this.#flushing.then(() => this.#flush()));
  }

  /** Name of the present UTC day; formatted once a day, not for each request. */
  #today(): string {
    const nowMs = Date.now();
    if (nowMs >= this.#day.endMs)
      this.#day = {
        name: utcDay(nowMs),
        endMs: (Math.floor(nowMs / DAY_MS) + 1) * DAY_MS,
      };
    return this.#day.name;
  }

  async #flush(): Promise<void> {
    const rows = [...this.#sums.values()];
    this.#sums = new Map();
    try {
      if (rows.length > 0) await this.store.add(rows);
      await this.#clean(Date.now());
    } catch (error) {
      for (const row of rows) this.#add(row);
      this.#logger.warn(
        { reason: (error as Error).message, groups: rows.length },
        'usage is written later',
      );
    }
  }

  async #clean(nowMs: number): Promise<void> {
    if (this.#cleanedDay === utcDay(nowMs)) return;
    this.#cleanedDay = utcDay(nowMs);
    await this.store
      .removeBefore(utcDay(nowMs - this.settings.usage.keepDays * DAY_MS))
      .catch((error: Error) =>
        this.#logger.warn({ reason: error.message }, 'old usage is removed tomorrow'),
      );
  }

  #add(row: UsageRow): void {
    const name = usageGroupName(row);
    const known = this.#sums.get(name);
    if (known) for (const sum of USAGE_SUMS) known[sum] += row[sum];
    else if (this.#sums.size < MAX_GROUPS || row.tenant === OVERFLOW) this.#sums.set(name, row);
    else this.#add({ ...row, tenant: OVERFLOW, key: OVERFLOW, model: OVERFLOW });
  }
}

/** An engine call is shared by its group: each member has an equal part of its time. */
function rowOf(event: EventOf<'settled'>, day: string): UsageRow {
  const {
    tenant = DEFAULT_TENANT,
    keyId: key = '',
    model,
    status,
    usage = {},
    phases,
    batchSize = 1,
  } = event;
  const { grpcMs = 0, readyMs = 0 } = phases;
  // A worker that reports no device time: the time of the call counts.
  const { deviceMs = Math.max(0, grpcMs - readyMs) / Math.max(1, batchSize) } = event;
  return {
    day,
    tenant,
    key,
    model,
    requests: 1,
    completed: Number(status === 'completed'),
    failed: Number(status === 'failed'),
    cancelled: Number(status === 'cancelled'),
    audioMs: Math.round((usage.audioSeconds ?? 0) * 1000),
    characters: usage.characters ?? 0,
    inputTokens: usage.inputTokens ?? 0,
    outputTokens: usage.outputTokens ?? 0,
    deviceMs: Math.round(deviceMs),
  };
}

const NOTHING = Object.fromEntries(USAGE_SUMS.map(name => [name, 0])) as unknown as UsageSums;

/** Audio only: a session is no request. */
const rowOfLive = (
  { tenant, keyId: key = '', model, audioSeconds }: RecognisedAudio,
  day: string,
): UsageRow => ({
  ...NOTHING,
  day,
  tenant,
  key,
  model,
  audioMs: Math.round(audioSeconds * 1000),
});
