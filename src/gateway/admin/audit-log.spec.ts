import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { type FastifyReply, type FastifyRequest } from 'fastify';
import { type AuditEntry } from '../../core/access/audit-entry.js';
import { admitAs } from '../../platform/auth/access-hooks.js';
import { type Principal } from '../../platform/auth/principal.js';
import { AuditLog } from './audit-log.js';

const HOUR_MS = 3_600_000;
const OPERATOR = { tenant: 'ops', keyId: 'key_1', scopes: new Set(['admin']) };

describe('the audit log', () => {
  let entries: AuditEntry[];
  let removedBefore: number[];
  let isAway: boolean;
  let log: AuditLog;

  beforeEach(() => {
    jest.useFakeTimers({ now: 1_000_000_000_000 });
    [entries, removedBefore, isAway] = [[], [], false];
    const store = {
      add: (entry: AuditEntry) =>
        isAway ? Promise.reject(new Error('away')) : Promise.resolve(void entries.push(entry)),
      removeBefore: (ms: number) => Promise.resolve(void removedBefore.push(ms)),
    };
    log = new AuditLog(
      ...([store, { audit: { keepDays: 1 } }] as unknown as ConstructorParameters<typeof AuditLog>),
    );
  });
  afterEach(() => {
    jest.restoreAllMocks();
    jest.useRealTimers();
  });

  /** @returns whether the answer counts as a change */
  async function note({
    method = 'POST',
    statusCode = 200,
    answer = '' as unknown,
    known = true,
    ...request
  }): Promise<boolean> {
    const routeOptions = { url: '/admin/v1/keys/:id' };
    const asked = {
      id: 'req_1',
      method,
      params: {},
      query: {},
      routeOptions,
      ...request,
    } as unknown as FastifyRequest;
    if (known) admitAs(asked, OPERATOR as unknown as Principal);
    const noted = log.note(asked, { statusCode } as FastifyReply, answer);
    await noted;
    return noted !== undefined;
  }

  it('stores who changed what', async () => {
    await note({ params: { id: 'key_2' }, body: { name: 'n' }, query: { force: '1' } });
    expect(entries).toEqual([
      {
        id: expect.stringMatching(/^audit_/),
        atMs: 1_000_000_000_000,
        tenant: 'ops',
        keyId: 'key_1',
        requestId: 'req_1',
        outcome: 'ok',
        action: 'POST /admin/v1/keys/:id',
        target: 'key_2',
        detail: '{"force":"1","name":"n"}',
      },
    ]);
  });

  it('names what was made by the id in the answer', async () => {
    await note({ statusCode: 201, answer: Buffer.from('{"id":"key_9"}') });
    expect(entries[0]?.target).toBe('key_9');
  });

  it('stores refusals with their code, but neither reads nor attempts without the right key', async () => {
    const refusal = '{"error":{"code":"key_not_found"}}';
    expect(await note({ statusCode: 404, answer: refusal })).toBe(true);
    expect(await note({ statusCode: 400, answer: 'no JSON' })).toBe(true);
    for (const unheard of [
      { method: 'GET' },
      { statusCode: 401 },
      { statusCode: 403 },
      { known: false },
    ])
      expect(await note(unheard)).toBe(false);
    expect(entries.map(({ outcome }) => outcome)).toEqual(['key_not_found', '400']);
  });

  it('holds no secret, and at most 500 characters of what was asked', async () => {
    const secrets = { secret: 's', api_token: 't', Password: 'p', key_sha256: 'h' };
    await note({ body: { ...secrets, name: 'n'.repeat(600) } });
    expect(entries[0]?.detail).toMatch(/^\{"name":"n+…$/);
    expect(entries[0]?.detail).toHaveLength(500);
  });

  it('drops entries that are older than it keeps them, once an hour', async () => {
    for (const afterMs of [0, HOUR_MS - 1, 1]) {
      jest.setSystemTime(Date.now() + afterMs);
      await note({});
    }
    expect(removedBefore).toEqual([0, HOUR_MS].map(ms => 1_000_000_000_000 + ms - 24 * HOUR_MS));
  });

  it('that cannot be written goes to the log of the process, whole', async () => {
    const error = jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
    isAway = true;
    await note({ params: { id: 'key_2' } });
    const entry = expect.objectContaining({ target: 'key_2', action: 'POST /admin/v1/keys/:id' });
    expect(error.mock.calls).toEqual([[{ entry, reason: 'away' }, expect.any(String)]]);
  });
});
