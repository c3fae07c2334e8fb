import { describe, expect, it } from '@jest/globals';
import { restoredEntries, transcriberState } from './transcriber-state.js';

const audio = (text: string, start: number) =>
  ({ kind: 'audio', pcm: Buffer.from(text), start }) as const;
const commit = (start: number) => ({ kind: 'commit', start }) as const;
const texts = (entries: ReturnType<typeof restoredEntries>): string[] =>
  entries.map(entry =>
    entry.kind === 'audio' ? `${entry.start}:${entry.pcm.toString()}` : `${entry.start}|`,
  );

describe('the state of a transcriber', () => {
  it('is kept from the first audio that is not answered, with the commits behind it', () => {
    const lines = [
      [audio('cd', 2), commit(4)],
      [audio('ef', 4), commit(6), { kind: 'reopen' } as const],
    ];
    expect(transcriberState(lines, { position: 6, finals: 1 })).toEqual({
      ...{ position: 6, finals: 1, keepFrom: 2, commits: [4, 6] },
    });
  });

  it('needs nothing from before when all is answered', () => {
    expect(transcriberState([[], []], { position: 8, finals: 2 })).toMatchObject({
      keepFrom: 8,
      commits: [],
    });
  });

  it('is said again with each commit in its place, and nothing of what is answered', () => {
    const state = { position: 10, finals: 1, keepFrom: 2, commits: [4, 6, 10] };
    const pieces = [
      { start: 0, pcm: Buffer.from('abcdef') },
      { start: 6, pcm: Buffer.from('ghijkl') },
    ];
    expect(texts(restoredEntries(state, pieces))).toEqual([
      '2:cd',
      '4|',
      '4:ef',
      '6|',
      '6:ghij',
      '10|',
    ]);
  });

  it('keeps a commit behind audio that is lost', () => {
    expect(
      texts(restoredEntries({ position: 4, finals: 0, keepFrom: 0, commits: [4] }, [])),
    ).toEqual(['4|']);
  });
});
