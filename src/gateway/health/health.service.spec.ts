import { describe, expect, it } from '@jest/globals';
import { HealthService } from './health.service.js';

type Parts = ConstructorParameters<typeof HealthService>;
type Model = Partial<ReturnType<Parts[0]['models']>[number]>;

const loaded: Model = { id: 'a', state: 'loaded', startsOnRequest: false, workers: [] };
const unloaded: Model = { ...loaded, id: 'b', state: 'unloaded' };
const onRequest: Model = { ...unloaded, startsOnRequest: true };
const failed: Model = { ...onRequest, state: 'failed' };

const health = ({
  models = [loaded],
  draining = false,
  accepting = true,
  running = true,
  processor = 'up',
  dependency = 'up',
}) =>
  new HealthService(
    { models: () => models } as never,
    { accepting, running } as never,
    { draining } as never,
    { view: { state: processor } } as never,
    { states: () => [['database', { status: dependency, error: new Error('secret') }]] } as never,
  );

describe('the status of a gateway', () => {
  it.each([
    ['every model is ready', {}, 'ok', true],
    ['an operator unloaded the others', { models: [loaded, unloaded] }, 'ok', true],
    ['the next request starts its only model', { models: [onRequest] }, 'ok', true],
    ['some models are not', { models: [loaded, failed] }, 'degraded', true],
    ['the batch processor is down', { processor: 'down' }, 'degraded', true],
    ['a dependency is down', { dependency: 'down' }, 'degraded', true],
    ['a dependency was not asked yet', { dependency: 'unknown' }, 'ok', true],
    ['no model is ready', { models: [failed] }, 'unavailable', false],
    ['there is no model', { models: [] }, 'unavailable', false],
    ['its dispatcher does not run', { running: false }, 'unavailable', false],
    ['it is being drained', { draining: true }, 'draining', false],
    ['it takes no more requests', { accepting: false }, 'draining', false],
  ])('when %s', (_, parts, status, ready) => {
    const service = health(parts);
    expect([service.summary().status, service.ready]).toEqual([status, ready]);
  });

  it('counts workers by state, and does not say why a dependency is down', () => {
    const workers = [{ state: 'ready' }, { state: 'busy' }, { state: 'ready' }];
    const summary = health({ models: [{ ...loaded, workers } as unknown as Model] }).summary();
    expect(summary.models).toEqual([
      { id: 'a', ready: true, state: 'loaded', workers: { ready: 2, busy: 1 } },
    ]);
    expect(summary.dependencies).toEqual({ database: { status: 'up' } });
  });
});
