import { describe, expect, it } from '@jest/globals';

interface Environment {
  handleTestEvent(event: object, state: object): void;
}
type Constructor = new (options: { readonly projectConfig: object }) => Environment;

const file = new URL('../support/jest/native-environment.mjs', import.meta.url);
const { default: NativeEnvironment } = (await import(file.href)) as { default: Constructor };

describe('the environment of spec files', () => {
  const environment = () =>
    new NativeEnvironment({ projectConfig: { fakeTimers: {}, globals: {} } });
  const failure = (type: string, describeBlock: object) => ({
    name: 'hook_failure',
    hook: { type },
    describeBlock,
  });

  it('gives each hook and test the time of the configuration at least', () => {
    const hook = { timeout: 10 };
    const test = { timeout: 2_000_000 };
    const state = { testTimeout: 300_000 };
    environment().handleTestEvent({ name: 'hook_start', hook }, state);
    environment().handleTestEvent({ name: 'test_fn_start', test }, state);
    expect([hook.timeout, test.timeout]).toEqual([300_000, 2_000_000]);
  });

  it('reports why a suite did not start, not what its `afterAll` lacks then', () => {
    const suite = {};
    const other = {};
    const observed = environment();
    const unhandledErrors: string[] = [];
    const happens = (event: object) =>
      observed.handleTestEvent(event, { testTimeout: 1, unhandledErrors });
    happens(failure('beforeAll', suite));
    unhandledErrors.push('of the suite inside');
    happens(failure('afterAll', { parent: suite }));
    unhandledErrors.push('of another suite');
    happens(failure('afterAll', other));
    expect(unhandledErrors).toEqual(['of another suite']);
  });
});
