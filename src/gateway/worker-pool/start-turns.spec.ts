import { describe, expect, it } from '@jest/globals';
import { StartTurns } from './start-turns.js';

const turn = () => new Promise(setImmediate);

/** Who has begun, in order, and what ends each turn. */
function starts(turns: StartTurns, models: Readonly<Record<string, boolean>>) {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  for (const [id, isRealtime] of Object.entries(models))
    void turns.take(isRealtime).then(end => {
      begun.push(id);
      ends.set(id, end);
    });
  return { begun, end: async (id: string) => (ends.get(id)!(), await turn()) };
}

describe('StartTurns', () => {
  it('lets so many load at once, REALTIME models first, the others in order', async () => {
    const { begun, end } = starts(new StartTurns(2, 60_000), {
      night: false,
      chat: true,
      batch: false,
      live: true,
    });
    await turn();
    expect(begun).toEqual(['chat', 'live']);
    await end('live');
    await end('live');
    expect(begun).toEqual(['chat', 'live', 'night']);
    await end('chat');
    expect(begun).toEqual(['chat', 'live', 'night', 'batch']);
  });

  it('lets the next begin when a load takes too long', async () => {
    const { begun } = starts(new StartTurns(1, 1), { slow: false, next: false });
    while (begun.length < 2) await new Promise(resolve => setTimeout(resolve, 1));
    expect(begun).toEqual(['slow', 'next']);
  });
});
