import { describe, expect, it } from '@jest/globals';
import { decodeHealth, encodeHealth, type WorkerHealthReport } from './health.codec.js';
import { speechToTextDefinition } from './stt.codec.js';

const { responseSerialize, responseDeserialize } = speechToTextDefinition.health;
const report: WorkerHealthReport = {
  state: 'ready',
  model: 'whisper-1',
  engine: 'synthetic',
  device: 'cpu',
  revision: '1',
  kind: 'stt',
  maxBatch: 8,
  maxConcurrent: 1,
  streams: 0,
  capabilities: ['transcribe'],
  languages: ['en'],
  inFlight: 3,
  maxMessageBytes: 27_262_976,
  overdraft: 2,
  generation: {
    running: 3,
    waiting: 1,
    freeBlocks: 40,
    blocks: 64,
    stepTokens: 512,
    steps: 9,
    decodeCalls: 10,
    preemptions: 1,
    prefixHitTokens: 96,
    strandedTokens: 32,
    losses: 1,
  },
};

describe('Health on the wire', () => {
  it.each(['starting', 'ready', 'draining'] as const)(
    'carries a report in state %s there and back',
    state => {
      const wire = responseSerialize(encodeHealth({ ...report, state }));
      expect(decodeHealth(responseDeserialize(wire))).toEqual({ ...report, state });
    },
  );

  it('takes an empty report as a worker that is starting, and its numbers as they are', () => {
    expect(decodeHealth(responseDeserialize(Buffer.alloc(0)))).toMatchObject({
      state: 'starting',
      maxBatch: 0,
      maxConcurrent: 0,
    });
  });
});
