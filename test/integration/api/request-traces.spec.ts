import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { formOf } from '../../support/form-of.js';
import { silentWav } from '../../support/http-request.js';
import { OpenAiUpstream } from '../../support/openai-upstream.js';
import { type OtlpSpan, spansIn } from '../../support/otlp.js';
import { pcmWav } from '../../support/pcm-wav.js';
import { syntheticModel } from '../../support/synthetic-model.js';
import { TargetServer } from '../../support/target-server.js';
import { upstreamLlm } from '../generation/generation-rig.js';
import { builtLaunch, GatewayRig, until } from './gateway-rig.js';

const [TRACE, CALLER] = ['4b'.repeat(16), 'f0'.repeat(8)];
const header = (flags: string) => ({ traceparent: `00-${TRACE}-${CALLER}-${flags}` });
const CHAT = { model: 'upstream-llm', messages: [{ role: 'user', content: 'one two' }] };
const ENDPOINT = 'OTEL_EXPORTER_OTLP_ENDPOINT';

let upstream: OpenAiUpstream;
let collector: TargetServer;
let rig: GatewayRig | undefined;

beforeEach(async () => {
  upstream = await OpenAiUpstream.start({ models: ['its/own-name'] });
  collector = await TargetServer.start(() => ({ body: '{}' }));
  process.env[ENDPOINT] = collector.url;
});
afterEach(async () => {
  delete process.env[ENDPOINT];
  delete process.env.OTEL_TRACES_SAMPLER_ARG;
  await rig?.close();
  rig = undefined;
  await collector[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
});

async function started(): Promise<GatewayRig> {
  const models = [upstreamLlm(upstream), syntheticModel({ maxBatch: 4 })];
  const settings = { 'batching.policy': 'window' };
  rig = await GatewayRig.start({ models, launch: 'hosted', settings });
  return rig;
}

/** What the collector has received once the gateway has ended. */
async function exported(): Promise<OtlpSpan[]> {
  await rig!.close();
  rig = undefined;
  return spansIn(collector.calls);
}

const named = (spans: readonly OtlpSpan[], name: string): OtlpSpan =>
  spans.find(span => span.name === name)!;

describe('one request, one trace', () => {
  it("goes from the caller's span over the gateway, its queue and its worker to the upstream", async () => {
    await started();
    await (await rig!.post('/v1/chat/completions', CHAT, { headers: header('01') })).text();
    const { headers } = await upstream.post(0);
    const spans = await exported();
    const http = named(spans, 'POST /v1/chat/completions');
    expect(http.parentSpanId).toBe(CALLER);
    const parents = Object.fromEntries(spans.map(({ name, parentSpanId }) => [name, parentSpanId]));
    const call = named(spans, 'worker call').spanId;
    expect(parents).toEqual({
      ...{
        'POST /v1/chat/completions': CALLER,
        queue: http.spanId,
        'worker call': http.spanId,
      },
      ...{ preparation: call, device: call, 'upstream /chat/completions': http.spanId },
    });
    expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([TRACE]));
    const told = named(spans, 'worker call').attributes.map(({ key, value }) => [key, value]);
    expect(told).toEqual(
      expect.arrayContaining([
        ['gen_ai.request.model', { stringValue: 'upstream-llm' }],
        ['gen_ai.usage.input_tokens', { intValue: expect.any(Number) }],
        ['gen_ai.usage.output_tokens', { intValue: 2 }],
        ['gen_ai.server.request.duration', { doubleValue: expect.any(Number) }],
      ]),
    );
    expect(headers.traceparent).toBe(
      `00-${TRACE}-${named(spans, 'upstream /chat/completions').spanId}-01`,
    );
  });

  it('shows the batch window, inside the time in the queue', async () => {
    await started();
    await rig!.ready('synthetic');
    const answer = await rig!.post(
      '/v1/audio/transcriptions',
      formOf({ model: 'synthetic' }, silentWav()),
      {
        headers: { ...header('01'), 'x-priority': 'batch' },
      },
    );
    expect(answer.status).toBe(200);
    await answer.text();
    const spans = await exported();
    expect(named(spans, 'window').parentSpanId).toBe(named(spans, 'queue').spanId);
    expect(named(spans, 'device').parentSpanId).toBe(named(spans, 'worker call').spanId);
  });

  it('continues in an async request, which runs after its caller has left', async () => {
    await started();
    const headers = {
      ...header('01'),
      prefer: 'respond-async',
      'x-request-id': 'later',
    };
    expect((await rig!.post('/v1/chat/completions', CHAT, { headers })).status).toBe(202);
    await until(
      async () =>
        ((await rig!.json('/v1/requests/later')) as { status: string }).status === 'completed',
    );
    const spans = await exported();
    expect(
      spans.find(({ name, traceId }) => name === 'worker call' && traceId === TRACE),
    ).toBeDefined();
  });

  it('says with status and code why a request failed', async () => {
    await started();
    const body = { ...CHAT, messages: [{ role: 'user', content: 'FAIL' }] };
    await (await rig!.post('/v1/chat/completions', body, { headers: header('01') })).text();
    expect(named(await exported(), 'worker call').status).toEqual({
      code: 2,
      message: 'invalid_value',
    });
  });

  it('is continued by the servers behind speech models, files in pieces, too', async () => {
    const { baseUrl } = upstream;
    const behind = {
      ...upstreamLlm(upstream),
      options: { baseUrl, model: 'its/own-name' },
    };
    const models = [
      {
        ...behind,
        id: 'heard',
        kind: 'stt' as const,
        capabilities: ['transcribe' as const],
      },
      {
        ...{
          ...behind,
          id: 'said',
          kind: 'tts' as const,
          capabilities: ['speech' as const],
        },
        voices: { alloy: 'a' },
      },
    ].map(model => ({ ...model, aliases: [] }));
    rig = await GatewayRig.start({ models, launch: builtLaunch });
    await rig.ready('heard');
    await rig.ready('said');
    const headers = header('01');
    const speech = {
      model: 'said',
      voice: 'alloy',
      input: 'one',
      response_format: 'pcm',
    };
    await (await rig.post('/v1/audio/speech', speech, { headers })).arrayBuffer();
    for (const seconds of [1, 70]) {
      const form = new FormData();
      form.set('model', 'heard');
      form.set(
        'file',
        new Blob([new Uint8Array(pcmWav(Buffer.alloc(seconds * 32_000), 16_000))]),
        'a.wav',
      );
      await (await rig.post('/v1/audio/transcriptions', form, { headers })).text();
    }
    const seen = await Promise.all([0, 1, 2].map(at => upstream.post(at)));
    const parents = (await exported())
      .filter(({ name }) => name.startsWith('POST /v1/audio'))
      .map(({ spanId }) => `00-${TRACE}-${spanId}-01`);
    expect(seen.map(call => call.headers.traceparent).sort()).toEqual(parents.sort());
  });

  it('records nothing of a trace whose caller does not record it, and passes that on', async () => {
    await started();
    await (await rig!.post('/v1/chat/completions', CHAT, { headers: header('00') })).text();
    const { headers } = await upstream.post(0);
    expect(headers.traceparent).toMatch(new RegExp(`^00-${TRACE}-[0-9a-f]{16}-00$`));
    expect(await exported()).toEqual([]);
  });

  it('records none of its own with OTEL_TRACES_SAMPLER_ARG=0, and those that callers record', async () => {
    process.env.OTEL_TRACES_SAMPLER_ARG = '0';
    await started();
    await (await rig!.post('/v1/chat/completions', CHAT)).text();
    await (await rig!.post('/v1/chat/completions', CHAT, { headers: header('01') })).text();
    expect(new Set((await exported()).map(({ traceId }) => traceId))).toEqual(new Set([TRACE]));
  });

  it("passes the caller's own traceparent on while only the caller traces, and none that is nonsense", async () => {
    delete process.env[ENDPOINT];
    await started();
    await (await rig!.post('/v1/chat/completions', CHAT, { headers: header('01') })).text();
    await (await rig!.post('/v1/chat/completions', CHAT, { headers: { traceparent: 'x' } })).text();
    const seen = [
      (await upstream.post(0)).headers.traceparent,
      (await upstream.post(1)).headers.traceparent,
    ];
    expect(seen).toEqual([header('01').traceparent, undefined]);
  });
});
