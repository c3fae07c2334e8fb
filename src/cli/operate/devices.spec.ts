import { describe, expect, it } from '@jest/globals';
import { devicesText } from './devices.js';

const GIB = 2 ** 30;

describe('devices in the terminal', () => {
  it('are bars of their memory: what is resident, loading and leaving, and what waits for what', () => {
    const model = { waiting: 0, running: 0 };
    const text = devicesText([
      {
        ...{ id: 'gpu0', memory_bytes: 10 * GIB, used_bytes: 8 * GIB, history: [] },
        next: {
          ...{ model: 'whisper', reason: 'realtime', leaving: ['qwen3-8b'], in_s: 0 },
          explanation: 'whisper is next on gpu0',
        },
        models: [
          { ...model, id: 'kokoro', stage: 'resident', memory_bytes: GIB },
          { ...model, id: 'qwen3-8b', stage: 'leaving', memory_bytes: 7 * GIB, running: 2 },
          {
            ...model,
            id: 'whisper',
            stage: null,
            memory_bytes: 3 * GIB,
            waiting: 1,
            awaited: 'it waits for qwen3-8b',
          },
        ],
      },
    ]);
    expect(text.split('\n')).toEqual([
      `gpu0  ${'█'.repeat(4)}${'░'.repeat(28)}${'·'.repeat(8)}  8.0 GiB of 10.0 GiB`,
      '  █ kokoro  1.0 GiB  resident, 0 running',
      '  ░ qwen3-8b  7.0 GiB  leaving, 2 running',
      '  1 waiting: it waits for qwen3-8b',
      '  whisper is next on gpu0',
    ]);
  });
});
