import { it } from '@jest/globals';
import { EventTexts } from '../../src/worker/engines/openai-http/event-texts.js';
import { expectCheap } from './request-cost.js';

const PIECE = Buffer.alloc(16_384, 'x');

it('an event of a server that comes in small pieces costs by its length', () =>
  expectCheap('event in pieces', 1000, pieces => () => {
    const texts = new EventTexts();
    texts.take(Buffer.from('data: '));
    for (let at = 0; at < pieces; at += 1) texts.take(PIECE);
    return Promise.resolve();
  }));
