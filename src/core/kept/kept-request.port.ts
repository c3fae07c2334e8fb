/** `async`: its caller left with a 202; `waiting`: its caller waits, and its answer is kept for a retry. */
export type KeptMode = 'async' | 'waiting';

/** `receiving`: its body is on the way into the blob store; nobody was told of it yet. */
export type KeptStatus = 'receiving' | 'running' | KeptEnd;
export type KeptEnd = 'completed' | 'failed' | 'cancelled';

/** A request whose answer outlives its connection. Instants are Unix milliseconds. */
export interface KeptRequest {
  readonly tenant: string;
  /** What makes two requests of a tenant one: `id:` + X-Request-Id, or `key:` + Idempotency-Key. */
  readonly name: string;
  readonly requestId: string;
  readonly mode: KeptMode;
  /** Route, without query. */
  readonly path: string;
  /** Of what was asked: another one under the same name is a mistake. Of a form, its bytes are added when all have come. */
  readonly fingerprint: string;
  /** Those that a second run needs; never credentials (LESSONS "Batch jobs"). */
  readonly headers: Readonly<Record<string, string>>;
  /** Where its body and its answer lie. */
  readonly blob: string;
  readonly status: KeptStatus;
  /** Gateways that began it. */
  readonly attempts: number;
  /** Somebody asked another gateway to stop it. */
  readonly cancelling: boolean;
  readonly createdAtMs: number;
  readonly endedAtMs?: number;
  readonly expiresAtMs: number;
  readonly leaseUntilMs: number;
  readonly answer?: KeptAnswer;
}

/** Head of an answer; its bytes are a blob. */
export interface KeptAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
}

export type NewKeptRequest = Omit<
  KeptRequest,
  'status' | 'attempts' | 'cancelling' | 'endedAtMs' | 'leaseUntilMs' | 'answer'
> & { readonly status: 'receiving' | 'running' };

/** A gateway's hold on what it runs: writes of one that lost it change nothing. */
export interface KeptLease {
  readonly owner: string;
  readonly nowMs: number;
  readonly leaseMs: number;
}

export type KeptRef = Pick<KeptRequest, 'tenant' | 'name'>;
/** One attempt at a request: later ones under the same name have another blob or number. */
export type KeptAttempt = Pick<KeptRequest, 'tenant' | 'name' | 'blob' | 'attempts'>;

export interface Opened {
  /** False: `request` is the one that came before. */
  readonly created: boolean;
  readonly request: KeptRequest;
  /** Rows that made room: their blobs are nobody's now. */
  readonly replaced: readonly KeptRequest[];
}

/** The table of kept requests, shared by the gateways of one database. */
export interface KeptRequestStore {
  /**
   * One wins of those that come at once. What ended badly, what has expired, and what waited on a gateway that died make room for
   * a new attempt.
   */
  open(request: NewKeptRequest, lease: KeptLease): Promise<Opened>;
  find(ref: KeptRef): Promise<KeptRequest | undefined>;
  /** The latest of that id. @param tenant undefined: of anybody */
  findById(requestId: string, tenant: string | undefined): Promise<KeptRequest | undefined>;
  /** Its body is stored. False: the lease was lost. */
  started(attempt: KeptAttempt, owner: string, fingerprint: string): Promise<boolean>;
  /** Prolongs everything that `owner` holds, and resolves with it. */
  beat(lease: KeptLease): Promise<readonly KeptRequest[]>;
  /** False: somebody else has it, or it ended. */
  end(attempt: KeptAttempt, owner: string, end: KeptEnding): Promise<boolean>;
  /** As if it had never come. */
  drop(attempt: KeptAttempt, owner: string): Promise<void>;
  /** Another gateway may go on at once. */
  release(attempt: KeptAttempt, owner: string): Promise<void>;
  /** One `async` request whose gateway is silent; its attempts are counted. */
  takeOver(lease: KeptLease): Promise<KeptRequest | undefined>;
  /** True when it runs, wherever. */
  requestCancel(tenant: string, requestId: string): Promise<boolean>;
  /** Removes what has expired and what was never accepted. */
  expire(nowMs: number, limit: number): Promise<readonly KeptRequest[]>;
  /** Unix milliseconds by the clock that all gateways share: that of the database. */
  nowMs(): Promise<number>;
  /** Those of these blobs that a row names. */
  referenced(blobs: readonly string[]): Promise<ReadonlySet<string>>;
}

export interface KeptEnding {
  /** Of what was asked, now that all of it was read; absent: as it was. */
  readonly fingerprint?: string;
  readonly status: KeptEnd;
  readonly answer: KeptAnswer;
  readonly endedAtMs: number;
  readonly expiresAtMs: number;
}
