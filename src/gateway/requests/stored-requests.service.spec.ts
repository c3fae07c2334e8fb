import { Readable } from 'node:stream';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { type StoredRequest } from '../../core/request/stored-request.js';
import { ANYBODY, type Principal } from '../../platform/auth/principal.js';
import { type StoredAnswers } from '../stored-work/stored-answers.js';
import { type StoredWork } from '../stored-work/stored-work.js';
import { type RequestDto } from './dto/request.dto.js';
import { StoredRequestsService } from './stored-requests.service.js';

const INLINE = 65_536;
const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' };
const USER: Principal = { tenant: 'own', scopes: new Set(['inference']) };
const ADMIN: Principal = { ...ANYBODY, tenant: 'own' };

const stored = (fields: object = {}): StoredRequest =>
  ({
    tenant: 'own',
    requestId: 'r',
    path: '/p',
    status: 'running',
    attempts: 2,
    headers: {},
    createdAtMs: 1000,
    expiresAtMs: 9000,
    ...fields,
  }) as never;
const ended = (fields: object = {}, headers: object = JSON_TYPE) =>
  stored({ status: 'completed', endedAtMs: 2000, answer: { status: 200, headers }, ...fields });

describe('a stored request', () => {
  let rows: StoredRequest[];
  let answer: { bytes: number; text: string } | undefined;
  let service: StoredRequestsService;

  beforeEach(() => {
    [rows, answer] = [[], { bytes: 7, text: '{"a":1}' }];
    const named = (id: string, tenant: string | undefined) =>
      Promise.resolve(
        rows.find(row => row.requestId === id && [row.tenant, undefined].includes(tenant)),
      );
    const openAnswer = () =>
      Promise.resolve(
        answer && { bytes: answer.bytes, body: Readable.from([Buffer.from(answer.text)]) },
      );
    service = new StoredRequestsService(
      { named } as unknown as StoredWork,
      { openAnswer } as unknown as StoredAnswers,
    );
  });

  it.each([
    ['its own', USER, { tenant: 'own' }, true],
    ["another tenant's", USER, { tenant: 'other' }, false],
    ["another tenant's, of an admin", ADMIN, { tenant: 'other' }, true],
    ['one whose body still comes', USER, { tenant: 'own', status: 'receiving' }, false],
  ])('is found: %s', async (_, principal, fields, isFound) => {
    rows = [stored(fields)];
    expect(await service.find(principal, 'r')).toBe(isFound ? rows[0] : undefined);
  });

  it('is an admin’s own before that of any tenant', async () => {
    rows = [stored({ tenant: 'other' }), stored()];
    expect(await service.find(ADMIN, 'r')).toBe(rows[1]);
  });

  describe('is shown', () => {
    const here = (fields: object = {}) =>
      ({
        request_id: 'r',
        state: 'running',
        model: 'm',
        position: 3,
        code: 'worker_lost',
        explanation: 'It runs.',
        ...fields,
      }) as unknown as RequestDto;

    it('as this gateway knows it while it runs here', async () => {
      expect(await service.view(stored(), here())).toMatchObject({
        state: 'running',
        status: 'running',
        model: 'm',
        position: 3,
        endpoint: '/p',
        created_at: 1,
        expires_at: 9,
        explanation: 'It runs.',
      });
    });

    it.each<[string, object, RequestDto | undefined, object]>([
      [
        'that another gateway has',
        stored({ headers: { 'x-priority': 'realtime' } }),
        undefined,
        { state: 'running', explanation: 'Another gateway has it.', priority: 'realtime' },
      ],
      [
        'that another has, as batch work',
        stored(),
        undefined,
        { priority: 'batch', attempts: 2, waited_ms: 0, aged: false },
      ],
      [
        'whose answer is being stored',
        stored(),
        here({ state: 'completed' }),
        { state: 'running', explanation: 'Its answer is being stored.', position: undefined },
      ],
      [
        'that completed',
        ended(),
        here(),
        {
          state: 'completed',
          completed_at: 2,
          code: undefined,
          status_code: 200,
          result: { a: 1 },
        },
      ],
      [
        'that failed here',
        ended({ status: 'failed' }),
        here(),
        { state: 'failed', code: 'worker_lost', error: undefined },
      ],
      [
        'that was cancelled',
        ended({ status: 'cancelled' }),
        undefined,
        { code: 'request_cancelled', explanation: 'It is cancelled; its answer is stored.' },
      ],
      [
        'that ended elsewhere',
        ended(
          {},
          {
            'x-switchyard-model': 'm',
            'x-switchyard-queue-ms': '7',
            'x-switchyard-attempts': '3',
          },
        ),
        undefined,
        { model: 'm', waited_ms: 7, attempts: 3, content_url: '/v1/requests/r/content' },
      ],
    ])('one %s', async (_, request, known, shown) => {
      expect(await service.view(request as StoredRequest, known)).toMatchObject(shown);
    });

    it('with the error of its answer', async () => {
      answer = { bytes: 9, text: '{"error":{"code":"x"}}' };
      const shown = await service.view(ended({ status: 'failed' }), undefined);
      expect(shown).toMatchObject({ error: { code: 'x' } });
      expect(Object.keys(shown)).not.toContain('result');
    });

    it.each<[string, () => StoredRequest]>([
      ['too large', () => ((answer = { bytes: INLINE + 1, text: '{}' }), ended())],
      ['no JSON', () => ((answer = { bytes: 1, text: '{' }), ended())],
      ['of another type', () => ended({}, { 'content-type': 'text/plain' })],
      ['gone', () => ((answer = undefined), ended())],
    ])('without an answer that is %s', async (_, request) => {
      expect(Object.keys(await service.view(request(), undefined))).not.toContain('result');
    });

    it('with an answer of 64 KiB', async () => {
      answer = { bytes: INLINE, text: '{}' };
      expect(await service.view(ended(), undefined)).toMatchObject({ result: {} });
    });
  });

  it.each<[string, () => unknown, object]>([
    ['there is none', () => undefined, { code: 'request_not_found' }],
    ['it runs', () => (rows = [stored()]), { code: 'request_not_finished', retryAfterMs: 1000 }],
    [
      'its bytes are gone',
      () => ([rows, answer] = [[ended()], undefined]),
      { code: 'request_not_found', message: 'The answer of `r` is gone.' },
    ],
  ])('has no content when %s', async (_, act, error) => {
    act();
    await expect(service.content(USER, 'r')).rejects.toMatchObject(error);
  });

  it('has the content of its answer', async () => {
    rows = [ended()];
    expect(await service.content(USER, 'r')).toMatchObject({ bytes: 7 });
  });
});
