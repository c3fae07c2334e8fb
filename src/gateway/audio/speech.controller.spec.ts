import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { jsonOf, scriptedInference, served } from '../../../test/support/scripted-inference.js';
import { syntheticModel } from '../../../test/support/synthetic-model.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { ModelList } from '../../platform/config/config.module.js';
import { settingsFrom } from '../../platform/config/settings.js';
import { ModelCatalog } from '../models/model-catalog.js';
import { SpeechController } from './speech.controller.js';

const BODY = { model: 'v', input: 'Hi', voice: 'joe', response_format: 'wav' };
const failure = new DomainError('engine_failed', 'cannot');

describe('speech over HTTP', () => {
  let rig: ReturnType<typeof scriptedInference>;
  let server: Awaited<ReturnType<typeof served>>;

  beforeEach(async () => {
    rig = scriptedInference();
    const model = syntheticModel({}, { id: 'v', kind: 'tts', capabilities: ['speech'] });
    const controller = new SpeechController(
      new ModelCatalog(new ModelList([model])),
      rig.inference,
      settingsFrom({}),
    );
    server = await served((request, reply) => controller.create(jsonOf(request), reply));
  });
  afterEach(() => server.app.close());

  it('is audio under a name, as it is made', async () => {
    const answer = server.post(BODY);
    const { output, answer: settle } = await rig.next();
    output!.write(Buffer.from('RIFF'));
    output!.end(Buffer.from('data'));
    settle({ kind: 'speech', durationS: 1 });
    const { payload, headers } = await answer;
    expect(payload).toBe('RIFFdata');
    expect(headers).toMatchObject({
      'content-type': 'audio/wav',
      'x-switchyard-model': 'v',
      'content-disposition': 'attachment; filename="speech.wav"',
    });
  });

  it.each([
    [
      'is followed by its length',
      undefined,
      { type: 'speech.audio.done', usage: { seconds: 1.5 } },
    ],
    ['ends with the failure', failure, { error: { code: 'engine_failed' } }],
  ])('as events %s', async (_, error, last) => {
    const answer = server.post({ ...BODY, stream_format: 'sse' });
    const { output, answer: settle, fail } = await rig.next();
    output!.write(Buffer.from('abc'));
    await new Promise(setImmediate);
    if (error) fail(error);
    else {
      output!.end();
      settle({ kind: 'speech', durationS: 1.5 });
    }
    const { payload, headers } = await answer;
    const events = payload.split('\n\n').filter(Boolean);
    expect(events.map(event => JSON.parse(event.replace('data: ', '')) as unknown)).toMatchObject([
      { type: 'speech.audio.delta', audio: 'YWJj' },
      last,
    ]);
    expect(headers).toMatchObject({ 'cache-control': 'no-cache' });
    expect(headers).not.toHaveProperty('content-disposition');
  });

  it('fails as any request before its first byte', async () => {
    const answer = server.post(BODY);
    (await rig.next()).fail(failure);
    expect((await answer).json()).toMatchObject({ code: 'engine_failed' });
  });
});
