/** One configuration; suites are chosen by path: src (unit), test/property, test/contract, … (scripts/test-steps.mjs). */
export default {
  rootDir: '..',
  roots: ['<rootDir>/src', '<rootDir>/test'],
  testEnvironment: 'node',
  testMatch: ['**/*.spec.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        swcrc: false,
        jsc: {
          target: 'es2023',
          parser: { syntax: 'typescript', decorators: true },
          transform: { legacyDecorator: true, decoratorMetadata: true, useDefineForClassFields: false },
          keepClassNames: true,
        },
        module: { type: 'nodenext' },
        sourceMaps: 'inline',
      },
    ],
  },
  // Sources import './x.js' as Node's ESM resolver wants; the files on disk are './x.ts'.
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  // Nest's CommonJS plugins die with a require cycle unless these are loaded first as ESM.
  setupFiles: ['<rootDir>/test/support/jest-setup.ts'],
  // Real processes on a loaded machine take their time; specs wait for states, so a longer limit costs nothing.
  testTimeout: 60_000,
  // ESM modules of a finished file are never collected: a worker that grew is replaced.
  workerIdleMemoryLimit: '1GB',
};
