import { beforeEach, describe, expect, it } from '@jest/globals';
import { type RequestView } from '../../core/dispatch/request-view.js';
import { ANYBODY, type Principal } from '../../platform/auth/principal.js';
import { type Forecasts } from '../queue/forecasts.js';
import { type SchedulerService } from '../scheduler/scheduler.service.js';
import { oneNamed, RequestsController } from './requests.controller.js';
import { type StoredRequestsService } from './stored-requests.service.js';

const USER: Principal = { tenant: 'own', scopes: new Set(['inference']) };
const ADMIN: Principal = { ...ANYBODY, tenant: 'own' };
const view = (tenant: string): RequestView =>
  ({ id: 'r', tenant, model: 'm', state: 'running', phases: {}, attempts: 1 }) as never;

describe('the request of an id', () => {
  let views: RequestView[];
  let stored: { tenant: string } | undefined;
  let isAway: boolean;
  let requests: RequestsController;

  beforeEach(() => {
    [views, stored, isAway] = [[], undefined, false];
    const scheduler = {
      findAnywhere: ({ tenant }: { tenant: string }) =>
        Promise.resolve(views.find(one => one.tenant === tenant)),
      named: () => Promise.resolve(views),
      explain: () => Promise.resolve({}),
    };
    const service = {
      find: () => (isAway ? Promise.reject(new Error('away')) : Promise.resolve(stored)),
      view: (_: object, here: object | undefined) => Promise.resolve({ stored, here }),
    };
    requests = new RequestsController(
      scheduler as unknown as SchedulerService,
      service as unknown as StoredRequestsService,
      { ofView: () => undefined } as unknown as Forecasts,
    );
  });

  it.each<[string, Principal, string, boolean]>([
    ['its own', USER, 'own', true],
    ["another tenant's", USER, 'other', false],
    ["another tenant's, of an admin", ADMIN, 'other', true],
  ])('is found while it runs: %s', async (_, principal, tenant, isFound) => {
    views = [view(tenant)];
    const found = requests.find(principal, 'r');
    if (isFound) expect(await found).toMatchObject({ request_id: 'r' });
    else await expect(found).rejects.toMatchObject({ code: 'request_not_found', param: 'id' });
    const explained = requests.explain(principal, 'r');
    if (isFound) expect(await explained).toMatchObject({ request_id: 'r' });
    else await expect(explained).rejects.toMatchObject({ code: 'request_not_found' });
  });

  it.each([
    ['here', [view('own')], { here: { request_id: 'r' } }],
    ['elsewhere', [], { here: undefined }],
  ])('is shown as stored, and what is known %s', async (_, known, shown) => {
    [views, stored] = [known, { tenant: 'own' }];
    expect(await requests.find(USER, 'r')).toMatchObject({ stored, ...shown });
    if (known.length === 0) expect(await requests.explain(USER, 'r')).toMatchObject({ stored });
  });

  it('is known without the database while it runs here', async () => {
    isAway = true;
    await expect(requests.find(USER, 'r')).rejects.toThrow('away');
    views = [view('own')];
    expect(await requests.find(USER, 'r')).toMatchObject({ request_id: 'r' });
  });

  it.each([
    [[], undefined, undefined],
    [['a'], undefined, 'a'],
    [['a', 'b'], 'b', 'b'],
    [['a', 'b'], 'c', undefined],
  ])('of the tenants %j for %p is that of %p', (tenants, wanted, found) => {
    expect(oneNamed(tenants.map(view), wanted)?.tenant).toBe(found);
  });

  it('that several tenants have needs the name of one', () => {
    expect(() => oneNamed(['b', 'a', 'b'].map(view), undefined)).toThrow(
      'Several tenants have a request of that id: a, b.',
    );
  });
});
