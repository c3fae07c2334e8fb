import { describe, expect, it } from '@jest/globals';
import {
  demandModel,
  demandScope,
  mayTouch,
  mayUse,
  permits,
  type Principal,
  type Scope,
} from './principal.js';

const holding = (...scopes: readonly Scope[]): Principal => ({
  tenant: 'acme',
  scopes: new Set(scopes),
});

describe('a principal', () => {
  it.each<[Scope, Scope, boolean]>([
    ['inference', 'inference', true],
    ['inference', 'realtime', true],
    ['realtime', 'realtime', true],
    ['realtime', 'inference', false],
    ['admin', 'realtime', false],
    ['admin', 'inference', false],
  ])('with the scope %s may do what asks for %s: %p', (held, wanted, may) => {
    expect(permits(holding(held), wanted)).toBe(may);
  });

  it('needs one of the scopes that are asked for', () => {
    demandScope(holding('events'), 'admin', 'events');
    expect(() => demandScope(holding('events'), 'admin', 'inference')).toThrow(
      expect.objectContaining({
        code: 'missing_scope',
        message: 'This API key lacks the scope admin or inference.',
      }),
    );
  });

  it.each<[Scope, string | undefined, boolean]>([
    ['inference', 'acme', true],
    ['inference', 'other', false],
    ['inference', undefined, false],
    ['admin', 'other', true],
  ])('with the scope %s may touch requests of %s: %p', (scope, tenant, may) => {
    expect(mayTouch(holding(scope), tenant)).toBe(may);
  });

  it.each([
    [undefined, true],
    [{ key: 'k' }, true],
    [{ key: 'k', models: ['stt'] }, true],
    [{ key: 'k', models: ['tts'] }, false],
  ])('on the terms %j may use the model stt: %p', (terms, may) => {
    expect(mayUse(terms, 'stt')).toBe(may);
    const demand = () => demandModel(terms, 'stt');
    if (may) demand();
    else
      expect(demand).toThrow(expect.objectContaining({ code: 'model_not_found', param: 'model' }));
  });
});
