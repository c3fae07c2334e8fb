import { describe, expect, it } from '@jest/globals';
import { type WorkerHealthReport } from '@switchyard/worker-protocol/health.codec.js';
import { eventOf, phaseAfter, PHASES, type WorkerEvent, type PoolPhase } from './worker-phase.js';

const phases = Object.keys(PHASES) as PoolPhase[];
const open = phases.filter(phase => phase !== 'closing');
const into = (event: WorkerEvent) => phases.map(phase => phaseAfter(phase, event));

describe('the state table of a worker', () => {
  it('offers slots while it is ready, and in no other phase', () => {
    expect(phases.filter(phase => PHASES[phase].offers)).toEqual(['ready']);
  });

  it.each<[WorkerEvent, PoolPhase]>([
    ['started', 'starting'],
    ['unready', 'starting'],
    ['serves', 'ready'],
    ['drains', 'draining'],
    ['hung', 'lost'],
    ['ended', 'lost'],
    ['closed', 'closing'],
  ])('%s leads to %s from every phase but the last', (event, to) => {
    expect(into(event)).toEqual([...open.map(() => to), 'closing']);
  });

  it.each<[WorkerEvent, PoolPhase]>([
    ['withdrawn', 'draining'],
    ['silent', 'unresponsive'],
    ['disconnected', 'lost'],
  ])('%s leads a ready worker to %s and changes no other', (event, to) => {
    expect(into(event)).toEqual(phases.map(phase => (phase === 'ready' ? to : phase)));
  });

  it.each([
    // Health      sound  held   event
    ['ready', true, false, 'serves'],
    ['ready', true, true, 'drains'],
    ['ready', false, false, 'unready'],
    ['starting', true, true, 'unready'],
    ['draining', true, false, 'drains'],
  ] as const)('a report of %s, sound %s, held %s: %s', (state, isSound, isHeld, event) => {
    expect(eventOf({ state } as WorkerHealthReport, isSound, isHeld)).toBe(event);
  });
});
