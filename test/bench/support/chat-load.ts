import { join } from 'node:path';
import { addApiKey } from '../../../src/platform/auth/keys-file.js';
import { type ModelSpec } from '../../../src/platform/config/model-spec.js';
import { type ChatCluster } from '../../support/chat-cluster.js';
import { type ServedChat } from '../../support/counting-server.js';
import { type GatewayProcess } from '../../support/gateway-process.js';
import { syntheticModel } from '../../support/synthetic-model.js';
import { pause } from '../../support/waiting.js';
import { exponential, type RandomSource, seededRandom } from './seeded-random.js';

/** Of a synthetic worker; chats last some of these. */
const TOKEN_MS = 300;
/** Of each tenant and model, so that enough wait. */
const CALLERS = 16;
/** Urgent chats of each model; with the others, a fifth of the slots. */
const URGENT_EVERY_MS = 400;
const URGENT_MS = 600;

export const WORKERS = 2;

/** Beside `chat` of the cluster's server: the same number of slots, on two workers. */
export const workersModel = (addresses: readonly string[]): ModelSpec =>
  syntheticModel(
    { baseMs: TOKEN_MS, perTokenMs: TOKEN_MS, tokens: 1000, maxConcurrent: 4 },
    { id: 'words', kind: 'llm', capabilities: ['chat'], replicas: 0, addresses: [...addresses] },
  );

/** A caller of chats, who is one of two. */
export interface Tenant {
  readonly name: 'a' | 'b';
  /** Its chats last between one and three times this. */
  readonly ms: number;
  readonly headers: Record<string, string>;
}

/** With keys in a file of that folder. */
export function tenants(folder: string, weights: Readonly<Record<Tenant['name'], number>>) {
  const file = join(folder, 'keys.yaml');
  const tenant = (name: Tenant['name'], ms: number): Tenant => {
    const limits = { weight: weights[name] };
    const { key } = addApiKey(file, { tenant: name, scopes: ['inference'], limits });
    return { name, ms, headers: { authorization: `Bearer ${key}` } };
  };
  return { file, all: [tenant('a', 600), tenant('b', 1200)] };
}

/** A chat that ran, wherever. */
interface RunChat {
  readonly tenant: string;
  readonly isUrgent: boolean;
  readonly fromMs: number;
  readonly endMs: number;
}

/**
 * Two tenants at all gateways of a cluster, until `end`: BATCH chats, each sent again when it is
 * answered, and REALTIME ones at random instants. Every other one is a stream.
 */
export class ChatLoad {
  /** By its server, or from when it was answered. */
  readonly words: RunChat[] = [];
  readonly urgentWaitsMs: number[] = [];
  readonly refused: number[] = [];
  readonly #random: RandomSource;
  readonly #running: Promise<void>[] = [];
  #sent = 0;
  #isOver = false;

  constructor(
    private readonly cluster: ChatCluster,
    seed: number,
  ) {
    this.#random = seededRandom(seed);
  }

  begin(all: readonly Tenant[], models: readonly string[]): void {
    const { gateways } = this.cluster;
    for (const model of models)
      for (const tenant of all) {
        for (let nth = 0; nth < CALLERS; nth++)
          this.#running.push(this.#caller(tenant, model, gateways[nth % gateways.length]!));
        this.#running.push(this.#urgent(tenant, model, all.length * URGENT_EVERY_MS));
      }
  }

  async end(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#running);
  }

  /** At the cluster's server. */
  get chats(): RunChat[] {
    return this.cluster.server.chats.map(runChat);
  }

  async #caller(tenant: Tenant, model: string, gateway: GatewayProcess): Promise<void> {
    while (!this.#isOver) {
      const lasts = tenant.ms * (1 + 2 * this.#random());
      if ((await this.#chat(tenant, model, gateway, { lasts, isUrgent: false })) === 0) return;
    }
  }

  async #urgent(tenant: Tenant, model: string, everyMs: number): Promise<void> {
    while (!this.#isOver) {
      await pause(exponential(this.#random, everyMs));
      const { gateways } = this.cluster;
      const gateway = gateways[Math.floor(this.#random() * gateways.length)]!;
      void this.#chat(tenant, model, gateway, { lasts: URGENT_MS, isUrgent: true });
    }
  }

  async #chat(
    { name, headers }: Tenant,
    model: string,
    gateway: GatewayProcess,
    { lasts, isUrgent }: { readonly lasts: number; readonly isUrgent: boolean },
  ): Promise<number> {
    const maxTokens = Math.max(1, Math.round(lasts / TOKEN_MS));
    const ms = maxTokens * TOKEN_MS;
    this.#sent += 1;
    const kind = isUrgent ? 'realtime' : 'batch';
    const stream = this.#sent % 2 === 0;
    const at = this.cluster.gateways.indexOf(gateway);
    const { status, waitedMs } = await this.cluster.chat(
      gateway,
      `${name} ${kind} g${at} ${this.#sent} ${ms}ms`,
      { model, maxTokens, stream, headers: { ...headers, 'x-priority': kind } },
    );
    const endMs = performance.now();
    if (status !== 200) this.refused.push(status);
    if (isUrgent && status === 200) this.urgentWaitsMs.push(waitedMs);
    if (model === 'words') this.words.push({ tenant: name, isUrgent, fromMs: endMs - ms, endMs });
    return status;
  }
}

const runChat = ({ said, fromMs, endMs }: ServedChat): RunChat => {
  const [tenant = '', kind] = said.split(' ');
  return { tenant, isUrgent: kind === 'realtime', fromMs, endMs };
};

/** The share of that tenant of the BATCH time between two instants. */
export function shareOf(
  tenant: Tenant['name'],
  chats: readonly RunChat[],
  [fromMs, toMs]: readonly [number, number],
): number {
  const timeOf = (mine: boolean): number =>
    chats
      .filter(chat => !chat.isUrgent && (chat.tenant === tenant) === mine)
      .reduce((sum, chat) => sum + overlapMs(chat, fromMs, toMs), 0);
  const own = timeOf(true);
  return own / (own + timeOf(false));
}

const overlapMs = (chat: RunChat, fromMs: number, toMs: number): number =>
  Math.max(0, Math.min(chat.endMs, toMs) - Math.max(chat.fromMs, fromMs));
