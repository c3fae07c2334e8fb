import { describe, expect, it } from '@jest/globals';
import { WorkerState } from './worker-state.js';

describe('WorkerState', () => {
  it('goes from starting over ready to draining, and tells each change once', () => {
    const state = new WorkerState();
    const seen: string[] = [];
    state.phase$.subscribe({
      next: phase => seen.push(phase),
      complete: () => seen.push('closed'),
    });
    state.ready();
    state.ready();
    state.draining();
    state.draining();
    state.closed();
    expect(seen).toEqual(['starting', 'ready', 'draining', 'closed']);
  });

  it('stays draining when the engine finishes loading after the stop', () => {
    const state = new WorkerState();
    state.draining();
    state.ready();
    expect(state.phase).toBe('draining');
  });
});
