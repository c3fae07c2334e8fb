export type StoredEnd = 'completed' | 'failed' | 'cancelled';

/** A request whose answer outlives its connection. Instants are Unix milliseconds. */
export interface StoredRequest {
  readonly tenant: string;
  /**
   * What makes two requests of a tenant one: `id:` + X-Request-Id, or
   * `key:` + Idempotency-Key.
   */
  readonly name: string;
  readonly requestId: string;
  readonly mode: 'async' | 'waiting';
  /** Route, without query. */
  readonly path: string;
  /**
   * Of what was asked: another one under the same name is a mistake. Of a form, its bytes
   * are added when all have come.
   */
  readonly fingerprint: string;
  /** The headers that a second run needs; never credentials. */
  readonly headers: Readonly<Record<string, string>>;
  /** Where its body and the answers of its attempts lie. */
  readonly blob: string;
  readonly status: 'receiving' | 'running' | StoredEnd;
  /**
   * Gateways that began it; of one that has ended, the attempt whose
   * answer counts (D-39).
   */
  readonly attempts: number;
  /**
   * Gateways that died, or failed, while they had it; one that ended in order is none.
   */
  readonly losses: number;
  /** Whether a client asked another gateway to cancel it. */
  readonly cancelling: boolean;
  readonly createdAtMs: number;
  readonly endedAtMs?: number;
  readonly expiresAtMs: number;
  /** No gateway holds it, by the clock of the database. Only `find` asks. */
  readonly lapsed?: boolean;
  readonly answer?: StoredAnswer;
  /** Its body; absent: it is not stored, or an earlier release stored it. */
  readonly body?: StoredBytes;
}

/** What is known of a blob: bytes that differ are damaged. */
export interface StoredBytes {
  readonly bytes: number;
  /** 64 hexadecimal digits. */
  readonly sha256: string;
}

/** Head of an answer; its bytes are a blob. */
export interface StoredAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Absent: an earlier release stored it. */
  readonly content?: StoredBytes;
}

export type NewStoredRequest = Omit<
  StoredRequest,
  'status' | 'attempts' | 'losses' | 'cancelling' | 'endedAtMs' | 'lapsed' | 'answer' | 'body'
> & { readonly status: 'receiving' | 'running' };

/** A gateway's hold on what it runs, from now on by the clock of the database. */
export interface StoredLease {
  readonly owner: string;
  readonly leaseMs: number;
  /** Leases that ran out are left to their holders, who could not renew them. */
  readonly isPatient?: boolean;
}

export type StoredRef = Pick<StoredRequest, 'tenant' | 'name'>;
/**
 * The fencing token of one attempt: later ones under the same name have another
 * blob or number.
 */
export type StoredAttempt = Pick<StoredRequest, 'tenant' | 'name' | 'blob' | 'attempts'>;

export interface StoredEnding {
  /** Of what was asked, now that all of it was read; absent: as it was. */
  readonly fingerprint?: string;
  readonly status: StoredEnd;
  readonly answer: StoredAnswer;
  /** How long the answer is kept, milliseconds. */
  readonly keepMs: number;
}

/**
 * `ended`: by this attempt, now or by an earlier write. `cancelling`: it was cancelled
 * and must not complete. `lost`: another attempt ended it or, unless this one
 * completed, runs it.
 */
export type EndOutcome = 'ended' | 'cancelling' | 'lost';
