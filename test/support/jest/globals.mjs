/**
 * Each name acts for the spec file that runs at the time: helpers are loaded once
 * for many files.
 */
const GLOBALS = Symbol.for('switchyard.jest.globals');

const forward = name =>
  new Proxy(() => undefined, {
    apply: (_, self, args) => Reflect.apply(globalThis[GLOBALS][name], self, args),
    get: (_, key) => globalThis[GLOBALS][name][key],
  });

export const describe = forward('describe');
export const it = forward('it');
export const test = forward('test');
export const expect = forward('expect');
export const beforeAll = forward('beforeAll');
export const beforeEach = forward('beforeEach');
export const afterAll = forward('afterAll');
export const afterEach = forward('afterEach');
export const jest = forward('jest');
