import { describe, expect, it } from '@jest/globals';
import { threadEntry } from './engine-thread.js';

describe('threadEntry', () => {
  it('is a neighbour of the compiled module', () => {
    expect(threadEntry('./a.thread.js', 'file:///app/dist/worker/engines/x.js').href).toBe(
      'file:///app/dist/worker/engines/a.thread.js',
    );
  });

  it('says what to run when sources are used and nothing is compiled', () => {
    expect(() => threadEntry('./a.thread.js', 'file:///app/src/worker/engines/x.ts')).toThrow(
      '/app/dist/worker/engines/a.thread.js is missing: engine threads run compiled code; run `npm run build`',
    );
    expect(() => threadEntry('./a.thread.js', 'file:///src/app/packages/engine-x/x.ts')).toThrow(
      '/src/app/dist/node_modules/@switchyard/engine-x/a.thread.js is missing',
    );
  });
});
