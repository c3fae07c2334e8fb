/** Injection tokens of the ports in `core/jobs/job.ports`. */
export const JOB_STORE = Symbol('JOB_STORE');
export const FILE_STORE = Symbol('FILE_STORE');
export const UPLOAD_STORE = Symbol('UPLOAD_STORE');
export const WEBHOOK_OUTBOX = Symbol('WEBHOOK_OUTBOX');
/** Of the port `core/request/stored-request.port`. */
export const STORED_REQUEST_STORE = Symbol('STORED_REQUEST_STORE');
/** Of the port `core/request/response-record.port`. */
export const RESPONSE_RECORDS = Symbol('RESPONSE_RECORDS');
/** `() => Promise<void>`: resolves when the database answers. */
export const DATABASE_PING = Symbol('DATABASE_PING');
/** Of the ports in `core/access`. */
export const KEY_STORE = Symbol('KEY_STORE');
export const USAGE_STORE = Symbol('USAGE_STORE');
export const AUDIT_STORE = Symbol('AUDIT_STORE');
