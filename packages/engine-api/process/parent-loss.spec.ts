import { EventEmitter } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { onParentLost } from './parent-loss.js';

const send = () => true;

describe('onParentLost', () => {
  it('calls once when the channel closes', () => {
    const own = Object.assign(new EventEmitter(), { send, connected: true });
    let lost = 0;
    onParentLost(own, () => (lost += 1));
    expect(lost).toBe(0);
    own.emit('disconnect');
    own.emit('disconnect');
    expect(lost).toBe(1);
  });

  it('calls at once for a parent that died while this process was starting', () => {
    let lost = 0;
    onParentLost(Object.assign(new EventEmitter(), { send, connected: false }), () => (lost += 1));
    expect(lost).toBe(1);
  });

  it('never calls in a process that was started by hand', () => {
    const own = new EventEmitter();
    let lost = 0;
    onParentLost(own, () => (lost += 1));
    own.emit('disconnect');
    expect(lost).toBe(0);
  });
});
