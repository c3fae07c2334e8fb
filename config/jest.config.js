/**
 * One configuration; scripts/test-steps.mjs chooses suites by path: unit (packages,
 * src), test/property, …
 */
export default {
  rootDir: '..',
  roots: ['<rootDir>/packages', '<rootDir>/src', '<rootDir>/test'],
  // Plain Node loads specs and sources, once per worker process.
  runtime: '<rootDir>/test/support/jest/native-runtime.mjs',
  testEnvironment: '<rootDir>/test/support/jest/native-environment.mjs',
  transform: {},
  testMatch: ['**/*.spec.ts'],
  globalSetup: '<rootDir>/test/support/jest/build-check.mjs',
  // Nest's CommonJS plugins die with a require cycle unless these are loaded
  // first as ESM.
  setupFiles: ['<rootDir>/test/support/jest/setup.ts'],
  // Real processes on a loaded machine take their time; specs wait for states, so a
  // longer limit costs nothing.
  testTimeout: 300_000,
  testSequencer: '<rootDir>/test/support/jest/longest-first.mjs',
  globalTeardown: '<rootDir>/test/support/jest/teardown.mjs',
  // Modules are never unloaded: a worker that grew is replaced.
  workerIdleMemoryLimit: '1GB',
};
