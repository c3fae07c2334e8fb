/** One change made through an admin route. */
export interface AuditEntry {
  /** Sorts in the order of time. */
  readonly id: string;
  /** Unix milliseconds. */
  readonly atMs: number;
  readonly tenant: string;
  /** Id of the key; '' without keys. */
  readonly keyId: string;
  /** Method and route: `POST /admin/v1/keys/:id/rotate`. */
  readonly action: string;
  /** What the route names, such as the id of a key; '': nothing. */
  readonly target: string;
  readonly detail: string;
  readonly requestId: string;
  /** `ok`, or the code of the refusal. */
  readonly outcome: string;
}
