import { type RandomSource } from '../../bench/support/seeded-random.js';
import { type Entry, type Ledger } from './ledger.js';
import { type TenantClient } from './tenant-client.js';

/** What one caller does next. */
export interface Turn {
  readonly client: TenantClient;
  /** Of another tenant, which must not see anything of this one. */
  readonly stranger: TenantClient;
  readonly random: RandomSource;
  /** Unique among the requests of this tenant; the other one uses the same. */
  readonly id: string;
}

export type Operation = (turn: Turn) => Promise<void>;

const WORDS = [
  'amber',
  'birch',
  'cedar',
  'delta',
  'ember',
  'fjord',
  'grove',
  'heath',
  'inlet',
  'jetty',
  'knoll',
  'larch',
];

/** Words that no other request says: an answer to another one is noticed. */
export function uniqueWords({ id, client, random }: Turn, count = 6): string {
  const drawn = Array.from({ length: count }, () => WORDS[Math.floor(random() * WORDS.length)]!);
  return [client.tenant, id, ...drawn].join(' ');
}

export const opened = ({ client, id }: Turn, operation: string): Entry =>
  client.ledger.open(client.tenant, operation, id);

/** What one tenant alone calls its request, so that the other one can try to reach it. */
export const ownId = ({ client, id }: Turn): string => `${client.tenant}-${id}`;

export function expectSame(ledger: Ledger, entry: Entry, got: string, wanted: string): boolean {
  if (got === wanted) return true;
  ledger.violate(
    'wrong',
    entry,
    `answered ${JSON.stringify(got.slice(0, 200))}; wanted ${JSON.stringify(wanted.slice(0, 200))}`,
  );
  return false;
}
