import { describe, expect, it } from '@jest/globals';
import koffi from 'koffi';
import { RunStop } from './run-stop.js';

describe('RunStop', () => {
  it('stops the run that computes and those sent before it, and none that comes later', () => {
    const stop = new RunStop();
    stop.begin(1);
    expect(stop.raised).toBe(false);
    stop.stop(2);
    expect(stop.raised).toBe(true);
    stop.begin(2);
    expect(stop.raised).toBe(true);
    stop.begin(3);
    expect(stop.raised).toBe(false);
    stop.stop(2);
    expect(stop.raised).toBe(false);
  });

  it('gives llama.cpp a function of C that returns whether a run is stopped', () => {
    const stop = new RunStop();
    const { abort_callback, abort_callback_data } = stop.params;
    koffi.proto('bool llama_abort(void *)');
    const asked = (): unknown => koffi.call(abort_callback, 'llama_abort', abort_callback_data);
    stop.begin(1);
    expect(asked()).toBe(false);
    stop.stop(1);
    expect(asked()).toBe(true);
  });
});
