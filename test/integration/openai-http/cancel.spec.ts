import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { encoded, synthesizeItem, transcribeItem } from '../../contract/engines/engine-items.js';
import { errorOf, UpstreamRig } from './upstream-rig.js';

describe('openai-http: a cancel closes the upstream call at once', () => {
  let rig: UpstreamRig;
  let abort: AbortController;

  beforeEach(async () => {
    rig = await UpstreamRig.start();
    abort = new AbortController();
  });
  afterEach(() => rig[Symbol.asyncDispose]());

  it('while the upstream works on a transcript', async () => {
    rig.upstream.script({ kind: 'hang' });
    const engine = await rig.recognizer();
    const running = engine.transcribe([transcribeItem(encoded('one'), { signal: abort.signal })]);
    const call = await rig.upstream.post(0);
    abort.abort();
    expect(await call.closed.passed).toEqual({ early: true });
    expect(await running).toMatchObject([{ ok: false, error: { code: 'request_cancelled' } }]);
  });

  it('in the middle of a speech, which says no more', async () => {
    rig.upstream.script({
      kind: 'parts',
      parts: [Buffer.alloc(4800), Buffer.alloc(4800)],
    });
    let parts = 0;
    let heard: () => void;
    const spoke = new Promise<void>(resolve => (heard = resolve));
    const emit = () => {
      parts++;
      heard();
    };
    const engine = await rig.synthesizer();
    const running = engine.synthesize([
      synthesizeItem('Hello.', 'v1', { signal: abort.signal, emit }).item,
    ]);
    const call = await rig.upstream.post(0);
    call.go();
    await spoke;
    abort.abort();
    expect(await call.closed.passed).toEqual({ early: true });
    expect(await running).toMatchObject([{ ok: false, error: { code: 'request_cancelled' } }]);
    expect(parts).toBe(1);
  });

  it('when the consumer of a speech fails', async () => {
    rig.upstream.script({
      kind: 'parts',
      parts: [Buffer.alloc(4800), Buffer.alloc(4800)],
    });
    const emit = () => {
      throw new Error('the consumer is gone');
    };
    const running = (await rig.synthesizer()).synthesize([
      synthesizeItem('Hello.', 'v1', { emit }).item,
    ]);
    const call = await rig.upstream.post(0);
    call.go();
    expect(await call.closed.passed).toEqual({ early: true });
    expect(errorOf(await running).message).toBe('the consumer is gone');
    expect(rig.upstream.posts).toHaveLength(1);
  });

  it('of one group member only: its neighbour is answered', async () => {
    const engine = await rig.recognizer({ maxBatch: 2 });
    const endless = transcribeItem(encoded('ENDLESS'), { signal: abort.signal });
    const running = engine.transcribe([endless, transcribeItem(encoded('two'))]);
    await rig.upstream.post(1);
    abort.abort();
    expect(await running).toMatchObject([
      { ok: false },
      { ok: true, value: { text: 'I heard two' } },
    ]);
  });

  it('of a request that still waits for one of maxConcurrent connections: the upstream never sees it', async () => {
    rig.upstream.script({ kind: 'hang' });
    const engine = await rig.recognizer({ maxConcurrent: 1 });
    const first = new AbortController();
    const busy = engine.transcribe([transcribeItem(encoded('one'), { signal: first.signal })]);
    await rig.upstream.post(0);
    const waiting = engine.transcribe([transcribeItem(encoded('two'), { signal: abort.signal })]);
    await nextTurn();
    abort.abort();
    expect(await waiting).toMatchObject([{ ok: false, error: { code: 'request_cancelled' } }]);
    first.abort();
    await busy;
    expect(await engine.transcribe([transcribeItem(encoded('three'))])).toMatchObject([
      { ok: true },
    ]);
    expect(rig.upstream.posts).toHaveLength(2);
  });

  it('and closing the engine ends what runs', async () => {
    rig.upstream.script({ kind: 'hang' });
    const engine = await rig.recognizer();
    const running = engine.transcribe([transcribeItem(encoded('one'))]);
    const call = await rig.upstream.post(0);
    await engine.close();
    expect(await call.closed.passed).toEqual({ early: true });
    expect(errorOf(await running)).toMatchObject({ code: 'shutting_down' });
  });
});
