import { it } from '@jest/globals';
import { UtteranceStream } from '../../src/gateway/realtime/session/utterance-stream.js';
import { expectCheap } from './request-cost.js';

const RATE = 24_000;
/** Two bytes each: the smallest that a client may send. */
const FRAMES = 14 * RATE;

it('14 s of speech in the smallest frames cost by their number', () =>
  expectCheap('smallest frames', FRAMES / 2, frames => async () => {
    const never = { transcript: new Promise<never>(() => undefined), cancel: () => undefined };
    const stream = new UtteranceStream({ sampleRate: RATE, recognise: () => never });
    const frame = Buffer.alloc(2, 1);
    for (let at = 0; at < frames; at += 1) await stream.sendFrame(frame);
  }));
