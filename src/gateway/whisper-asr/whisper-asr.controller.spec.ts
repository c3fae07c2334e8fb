import { describe, expect, it } from '@jest/globals';
import { type Transcript } from '@switchyard/engine-api/speech-recognizer.js';
import { type FastifyReply } from 'fastify';
import { syntheticModel } from '../../../test/support/synthetic-model.js';
import { AsrQueryDto } from '../../contracts/whisper-asr/asr.dto.js';
import { DetectLanguageQueryDto } from '../../contracts/whisper-asr/detect-language.dto.js';
import { admitAs } from '../../platform/auth/access-hooks.js';
import { ANYBODY } from '../../platform/auth/principal.js';
import { ModelList } from '../../platform/config/config.module.js';
import { settingsFrom } from '../../platform/config/settings.js';
import { type ParsedTranscription } from '../audio/parse-transcription.js';
import { type TranscriptionService } from '../audio/transcription.service.js';
import { type FileRules } from '../audio/upload-reader.js';
import { type FormSource } from '../http/multipart-form.js';
import { ModelCatalog } from '../models/model-catalog.js';
import { WhisperAsrController } from './whisper-asr.controller.js';

const stt = (id: string, languages: readonly string[]) =>
  syntheticModel({}, { id, languages, aliases: id === 'many' ? ['whisper-1'] : [] });
const catalog = new ModelCatalog(new ModelList([stt('many', []), stt('english', ['en'])]));
const form = {} as FormSource;
const reply = { request: {} } as FastifyReply;
admitAs(reply.request, ANYBODY);

function controller(strict = false) {
  const answered: { parsed: ParsedTranscription; file: FileRules }[] = [];
  const tested = new WhisperAsrController(
    {
      answer: (_: unknown, __: unknown, parse: () => ParsedTranscription, file: FileRules) =>
        Promise.resolve(void answered.push({ parsed: parse(), file })),
    } as unknown as TranscriptionService,
    catalog,
    settingsFrom({ 'compat.strict': strict }),
  );
  return { controller: tested, answered };
}
const transcriptOf = (language: string) =>
  ({ language, text: '', segments: [] }) as unknown as Transcript;

describe('the API of whisper-asr-webservice', () => {
  it('transcribes with the model that is meant where none is named', async () => {
    const { controller: tested, answered } = controller();
    await tested.transcribe(new AsrQueryDto(), {}, form, reply);
    const named = Object.assign(new AsrQueryDto(), {
      model: 'english',
      vad_filter: true,
      encode: false,
    });
    await tested.transcribe(named, { output: 'txt', newer: 1 }, form, reply);
    expect(answered.map(({ parsed }) => [parsed.model.id, parsed.ignored])).toEqual([
      ['many', []],
      ['english', ['vad_filter', 'newer']],
    ]);
    expect(answered.map(({ file }) => [file.part, file.receive !== undefined])).toEqual([
      ['audio_file', false],
      ['audio_file', true],
    ]);
    expect(() => controller(true).controller.transcribe(named, { newer: 1 }, form, reply)).toThrow(
      expect.objectContaining({ code: 'unsupported_parameter' }),
    );
  });

  it.each([
    [undefined, 'de-DE', 'german', 'de'],
    ['english', '', 'english', 'en'],
    ['english', 'de', 'german', 'de'],
  ])('tells the language: %s %s', async (model, language, name, code) => {
    const { controller: tested, answered } = controller();
    const query = Object.assign(new DetectLanguageQueryDto(), { model });
    await tested.detect(query, { newer: 1 }, form, reply);
    const [{ parsed }] = answered as [(typeof answered)[number]];
    expect(parsed.ignored).toEqual(['newer']);
    const { contentType, body } = parsed.write!(transcriptOf(language));
    expect(contentType).toBe('application/json; charset=utf-8');
    expect(JSON.parse(String(body))).toMatchObject({
      detected_language: expect.stringMatching(new RegExp(name, 'i')),
      language_code: code,
      confidence: null,
    });
  });

  it('says when the model does not tell it', async () => {
    const { controller: tested, answered } = controller();
    await tested.detect(new DetectLanguageQueryDto(), {}, form, reply);
    expect(() => answered[0]!.parsed.write!(transcriptOf(''))).toThrow(
      'does not tell which language',
    );
  });
});
