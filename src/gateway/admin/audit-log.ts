import { Injectable, Logger } from '@nestjs/common';
import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
import { fieldsIn } from '@switchyard/engine-api/is-object.js';
import { objectIn } from '@switchyard/engine-api/json-in.js';
import { type FastifyReply, type FastifyRequest } from 'fastify';
import { type AuditEntry } from '../../core/access/audit-entry.js';
import { knownPrincipalOf } from '../../platform/auth/access-hooks.js';
import { timeOrderedId } from '../../platform/clock/time-ordered-id.js';
import { DAY_MS } from '../../platform/config/setting-definition.js';
import { Settings } from '../../platform/config/settings.js';
import { AuditStore } from '../../platform/database/usage-store.js';

const READING = ['GET', 'HEAD', 'OPTIONS'];
/**
 * Attempts without the right key: whoever has none must not be able to fill the table.
 */
const NOT_STORED = [401, 403];
const MAX_DETAIL = 500;
const MAX_TARGET = 200;
/** Answers are read for the id of what was made, and for the code of a refusal. */
const MAX_READ = 65_536;
const SECRET = /secret|token|password|authorization|sha256/i;
const CLEAN_MS = 3_600_000;

/** Stores who changed what through admin routes. */
@Injectable()
export class AuditLog {
  readonly #logger = new Logger(AuditLog.name);
  #cleanedAtMs = 0;

  constructor(
    private readonly store: AuditStore,
    private readonly settings: Settings,
  ) {}

  /**
   * Of an answer of an admin route. Undefined: it is no change, or its caller had no right
   * to it. Never rejects: the change was made. An entry that cannot be stored is logged
   * whole.
   */
  note(request: FastifyRequest, reply: FastifyReply, payload: unknown): Promise<void> | undefined {
    const entry = entryOf(request, reply, payload);
    return entry && this.#add(entry);
  }

  async #add(entry: Omit<AuditEntry, 'id' | 'atMs'>): Promise<void> {
    const nowMs = Date.now();
    const whole = { ...entry, id: timeOrderedId('audit_', nowMs), atMs: nowMs };
    try {
      await this.store.add(whole);
      if (nowMs - this.#cleanedAtMs < CLEAN_MS) return;
      this.#cleanedAtMs = nowMs;
      await this.store.removeBefore(nowMs - this.settings.audit.keepDays * DAY_MS);
    } catch (error) {
      this.#logger.error(
        { entry: whole, reason: (error as Error).message },
        'the audit log could not be written',
      );
    }
  }
}

function entryOf(
  request: FastifyRequest,
  { statusCode }: FastifyReply,
  payload: unknown,
): Omit<AuditEntry, 'id' | 'atMs'> | undefined {
  if (READING.includes(request.method)) return undefined;
  const principal = NOT_STORED.includes(statusCode) ? undefined : knownPrincipalOf(request);
  if (!principal) return undefined;
  const answer = parsed(payload);
  const [target = answer.id] = Object.values(request.params as object) as readonly unknown[];
  return {
    tenant: principal.tenant,
    keyId: principal.keyId ?? '',
    requestId: request.id,
    action: `${request.method} ${request.routeOptions.url}`,
    // PostgreSQL stores no NUL.
    target:
      typeof target === 'string' ? target.slice(0, MAX_TARGET).replaceAll('\0', '\uFFFD') : '',
    detail: detailOf({
      ...(request.query as object),
      ...fieldsIn(request.body),
    }),
    outcome: statusCode < 400 ? 'ok' : refusalIn(answer, statusCode),
  };
}

/** The code of the error, or else the status. */
function refusalIn({ error }: Readonly<Record<string, unknown>>, status: number): string {
  const { code } = fieldsIn(error);
  return typeof code === 'string' ? code : String(status);
}

/** What was asked, without anything that could be a secret. */
function detailOf(fields: Readonly<Record<string, unknown>>): string {
  const shown = Object.entries(fields).filter(([name]) => !SECRET.test(name));
  const text = shown.length === 0 ? '' : writeJson(Object.fromEntries(shown));
  return text.length <= MAX_DETAIL ? text : `${text.slice(0, MAX_DETAIL - 1)}…`;
}

function parsed(payload: unknown): Readonly<Record<string, unknown>> {
  const text = Buffer.isBuffer(payload) ? payload.toString('utf8') : payload;
  if (typeof text !== 'string' || text.length > MAX_READ) return {};
  return objectIn(text) ?? {};
}
