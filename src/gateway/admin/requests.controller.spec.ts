import { beforeEach, describe, expect, it } from '@jest/globals';
import { type RequestView } from '../../core/dispatch/request-view.js';
import { RequestPriority } from '../../core/request/request-priority.js';
import { type CancellationManager } from '../cancellation/cancellation-manager.js';
import { type Forecasts } from '../queue/forecasts.js';
import { type SchedulerService } from '../scheduler/scheduler.service.js';
import { type WorkRuns } from '../stored-work/work-runs.js';
import { AdminRequestsController } from './requests.controller.js';

const view = (id: string, fields: object = {}): RequestView =>
  ({
    id,
    tenant: 't',
    model: 'm',
    priority: 'batch',
    state: 'queued',
    waitedMs: 5,
    phases: {},
    attempts: 0,
    ...fields,
  }) as never;

describe('requests of an operator', () => {
  let views: RequestView[];
  let isWaiting: boolean;
  let log: unknown[];
  let requests: AdminRequestsController;

  beforeEach(() => {
    [views, isWaiting, log] = [[], true, []];
    const scheduler = {
      list: (filter: object) => Promise.resolve((log.push(filter), views)),
      named: (id: string, ended = false) =>
        Promise.resolve(views.filter(one => one.id === id && (ended || one.state !== 'completed'))),
      reprioritize: (ref: object, priority: RequestPriority) => {
        log.push([ref, priority]);
        return Promise.resolve(isWaiting);
      },
      explain: () => Promise.resolve({}),
    };
    const cancelMany = (filter: object, reason: string) =>
      Promise.resolve((log.push([filter, reason]), 3));
    const cancel = (ref: object, reason: string) => Promise.resolve(!!log.push([ref, reason]));
    requests = new AdminRequestsController(
      scheduler as unknown as SchedulerService,
      { cancelMany } as unknown as CancellationManager,
      { cancel } as unknown as WorkRuns,
      { ofView: () => undefined } as unknown as Forecasts,
    );
  });
  const ids = async (query: object) => {
    const { total, data } = await requests.list({ offset: 0, limit: 9, ...query });
    return [total, data.map(({ request_id: id }) => id).join(' ')];
  };

  it.each([
    [{}, [3, 'a1 a2 b1']],
    [{ search: 'a' }, [2, 'a1 a2']],
    [{ code: 'worker_lost' }, [1, 'a2']],
    [{ min_wait_ms: 5 }, [2, 'a1 b1']],
    [{ min_wait_ms: 6 }, [0, '']],
    [{ offset: 1, limit: 1 }, [3, 'a2']],
  ])('are listed: %j', async (query, listed) => {
    views = [view('a1'), view('a2', { waitedMs: 0, code: 'worker_lost' }), view('b1')];
    expect(await ids(query)).toEqual(listed);
  });

  it('are found with those ahead of them while they wait', async () => {
    views = [view('a', { position: 2 }), view('b', { position: 1 })];
    expect(await requests.find('a', {})).toMatchObject({ ahead: [{ tenant: 't', requests: 1 }] });
    views = [view('a', { state: 'completed' })];
    expect(Object.keys(await requests.find('a', {}))).not.toContain('ahead');
    await expect(requests.find('none', {})).rejects.toMatchObject({ code: 'request_not_found' });
  });

  it('are cancelled by any field, and all only when that is said', async () => {
    const none = requests.cancelMany({ all: false } as never);
    await expect(none).rejects.toMatchObject({ code: 'missing_required_parameter' });
    expect(log).toEqual([]);
    for (const body of [{ all: true }, { all: false, model: 'm' }])
      expect(await requests.cancelMany(body as never)).toEqual({ cancelled: 3 });
    expect(log).toMatchObject([
      [{}, 'operator'],
      [{ model: 'm' }, 'operator'],
    ]);
  });

  it('are cancelled by their id while they live', async () => {
    views = [view('a'), view('b', { state: 'completed' })];
    expect(await requests.cancel('a', {})).toEqual({ request_id: 'a', cancelled: true });
    expect(log).toEqual([[{ tenant: 't', id: 'a' }, 'operator']]);
    expect(await requests.cancel('b', {})).toEqual({ request_id: 'b', cancelled: false });
  });

  it('get another priority while they wait', async () => {
    views = [view('a')];
    const change = () => requests.changePriority('a', { priority: 'realtime' }, {});
    expect(await change()).toMatchObject({ request_id: 'a' });
    expect(log[0]).toEqual([{ tenant: 't', id: 'a' }, RequestPriority.REALTIME]);
    isWaiting = false;
    await expect(change()).rejects.toMatchObject({ code: 'request_not_waiting' });
  });
});
