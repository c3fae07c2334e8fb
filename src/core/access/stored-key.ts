import { type PriorityLabel } from '../request/request-priority.js';

/** What of a key can be changed later; absent: it stays, null: it has none any more. */
export type KeyChange = Partial<Pick<StoredKey, 'name' | 'scopes'>> & {
  readonly [Name in 'models' | 'limits' | 'defaultPriority' | 'expiresAtMs']?:
    | StoredKey[Name]
    | null;
};

/** An API key in the database. Instants are Unix milliseconds. */
export interface StoredKey {
  readonly id: string;
  /** The name that people gave the key. */
  readonly name: string;
  readonly tenant: string;
  readonly scopes: readonly string[];
  /** Models that it may use, by canonical id; absent: all. */
  readonly models?: readonly string[];
  /** By name as in the keys file, such as `requests_per_minute`. */
  readonly limits?: Readonly<Record<string, number>>;
  /** Of requests that state none; absent: that of the model. */
  readonly defaultPriority?: PriorityLabel;
  /** SHA-256 of the secret, 64 hexadecimal digits. */
  readonly sha256: string;
  /** First characters of the secret, for display. */
  readonly prefix: string;
  /** The secret before the last rotation, valid for a while. */
  readonly replaced?: { readonly sha256: string; readonly untilMs: number };
  readonly createdAtMs: number;
  readonly expiresAtMs?: number;
  readonly lastUsedAtMs?: number;
  readonly revokedAtMs?: number;
}
