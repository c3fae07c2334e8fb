import { text } from 'node:stream/consumers';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { metricValues } from '../../../../test/support/metric-values.js';
import { aRequest } from '../../../../test/support/response-schema.js';
import { DomainError } from '../../../core/errors/domain-error.js';
import { type StoredRequest } from '../../../core/request/stored-request.js';
import { settingsFrom } from '../../../platform/config/settings.js';
import { type ModelCatalog } from '../../models/model-catalog.js';
import { type StoredWork } from '../../stored-work/stored-work.js';
import { type WorkRuns } from '../../stored-work/work-runs.js';
import { type TextGenerationService } from '../../text/text-generation.service.js';
import { newResponse } from '../parse/response-object.js';
import { type ResponseTurn } from '../stored/conversations.js';
import { type ResponseRecords } from '../stored/response-records.js';
import { type ResponseRuns } from '../stored/response-runs.js';
import { BackgroundResponses, BackgroundRunner } from './background-responses.js';

const head = { id: 'resp_1', created_at: 100, model: 'm', service_tier: 'default' };
const response = newResponse(aRequest({ background: true }), head);
const turn = {
  response,
  request: aRequest(),
  conversation: { all: [], input: [] },
  caller: { tenant: 't', terms: undefined },
} as unknown as ResponseTurn;

describe('a background response', () => {
  let log: string[];
  let early: object | undefined;
  let fails: boolean;
  let started: BackgroundResponses;

  beforeEach(() => {
    [log, early, fails] = [[], undefined, false];
    const release = () => void log.push('release');
    const works = {
      open: ({ name, path }: { name: string; path: string }) => {
        log.push(`open ${name} ${path}`);
        return Promise.resolve({ attempt: { work: {}, release } });
      },
      drop: () => Promise.resolve(log.push('drop')),
    };
    const records = {
      create: (_: string, { request }: { request: string }, events: readonly string[]) => {
        const { stream } = (JSON.parse(request) as { request: { stream: boolean } }).request;
        log.push(`create ${events.length} ${stream}`);
        return fails ? Promise.reject(new Error('full')) : Promise.resolve();
      },
      remove: () => Promise.resolve(log.push('remove')),
    };
    started = new BackgroundResponses(
      works as unknown as StoredWork,
      { begin: () => Promise.resolve(early) } as unknown as WorkRuns,
      records as unknown as ResponseRecords,
    );
  });

  it('is stored, then queued', async () => {
    await started.start(turn);
    expect(log).toEqual(['open response:resp_1 /v1/responses/background', 'create 2 true']);
  });

  it.each<[string, () => unknown, string]>([
    ['refused', () => (early = { error: new DomainError('queue_full', 'Full.') }), 'Full.'],
    ['refused without a reason', () => (early = {}), 'could not be queued'],
    ['not stored', () => (fails = true), 'full'],
  ])('leaves nothing when it is %s', async (_, act, message) => {
    act();
    await expect(started.start(turn)).rejects.toThrow(message);
    expect(log.slice(2)).toEqual(['release', 'remove', 'drop']);
  });

  describe('on a gateway that runs it', () => {
    const work = { tenant: 't', requestId: 'resp_1' } as StoredRequest;
    let path: string | undefined;
    const runner = (status: string, record?: object, ended: unknown[] = []) => {
      const responses = {
        begin: () =>
          Promise.resolve(
            record && {
              record,
              tokens: [],
              events: {},
              end: (last: unknown) => ended.push(last),
              writer: { response: { output: [] }, fail: () => 'failed', end: () => 'ended' },
            },
          ),
        statusOf: () => Promise.resolve(status),
        stop: (ref: object) => Promise.resolve(JSON.stringify(ref)),
        endWith: (_: object, last: (writer: object) => unknown) =>
          Promise.resolve(ended.push(last({ fail: ({ code }: DomainError) => code }))),
      };
      const runs = { runWith: (_: object, its: string) => void (path = its) };
      return new BackgroundRunner(
        runs as unknown as WorkRuns,
        responses as unknown as ResponseRuns,
        {} as ModelCatalog,
        {} as TextGenerationService,
        settingsFrom({}),
      );
    };
    const options = { early: () => false, gone: AbortSignal.abort() };

    it.each([
      ['completed', 200],
      ['cancelled', 499],
    ])('that is %s has the status %p', async (status, code) => {
      const answer = await runner(status).run(work, options);
      expect(path).toBe('/v1/responses/background');
      expect([answer.status, JSON.parse(await text(answer.body))]).toEqual([
        code,
        { id: 'resp_1', object: 'response', status },
      ]);
    });

    it('stops, and fails with the error of its work', async () => {
      const ended: unknown[] = [];
      const one = runner('completed', undefined, ended);
      expect(await one.stop(work)).toBe('{"tenant":"t","id":"resp_1"}');
      await one.fail(work, new DomainError('gateway_lost', 'Lost.'));
      expect(ended).toEqual(['gateway_lost']);
    });

    it.each([
      [1, 'first'],
      [2, 'resumed'],
    ])('counts its run of epoch %p as %s', async (epoch, kind) => {
      const request = JSON.stringify({ request: aRequest(), conversation: [], caller: {} });
      const name = 'switchyard_background_response_runs_total';
      const record = { tenant: 't', id: 'resp_1', createdAtMs: 0, epoch, request };
      const one = runner('failed', record);
      await one.run(work, options).catch(() => undefined);
      expect(await metricValues(name)).toMatchObject({ [kind]: 1 });
    });
  });
});
