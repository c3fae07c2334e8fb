import { Controller, Post, Query, Res } from '@nestjs/common';
import { ApiOkResponse } from '@nestjs/swagger';
import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
import { type Fields } from '@switchyard/engine-api/is-object.js';
import { type FastifyReply } from 'fastify';
import { languageName } from '../../contracts/formats/language-name.js';
import { rulesOf } from '../../contracts/openai/field.decorators.js';
import { IgnoredFields } from '../../contracts/openai/ignored-fields.js';
import { AsrQueryDto } from '../../contracts/whisper-asr/asr.dto.js';
import {
  DetectedLanguageDto,
  DetectLanguageQueryDto,
} from '../../contracts/whisper-asr/detect-language.dto.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { principalOf } from '../../platform/auth/access-hooks.js';
import { Settings } from '../../platform/config/settings.js';
import { type ParsedTranscription, parseTranscription } from '../audio/parse-transcription.js';
import { TranscriptionService } from '../audio/transcription.service.js';
import { type FormSource } from '../http/multipart-form.js';
import { Form } from '../http/params.js';
import { ModelCatalog } from '../models/model-catalog.js';
import { asrAudio } from './asr-audio.js';
import { parseAsr } from './parse-asr.js';
import { describesAsr } from './whisper-asr.openapi.js';

/** What Whisper looks at to tell a language. */
const DETECTION_SECONDS = 30;

/**
 * The routes of whisper-asr-webservice, which subtitle programs such as Bazarr call.
 * @throws DomainError for everything that is not an answer
 */
@Controller()
export class WhisperAsrController {
  constructor(
    private readonly transcripts: TranscriptionService,
    private readonly catalog: ModelCatalog,
    private readonly settings: Settings,
  ) {}

  @Post('asr')
  @describesAsr()
  @ApiOkResponse({
    description: 'The transcript, in the `output` asked for.',
    content: {
      'text/plain': { schema: { type: 'string' }, example: 'the quick brown fox\n' },
    },
  })
  transcribe(
    @Query() query: AsrQueryDto,
    @Query() sent: Fields,
    @Form() form: FormSource,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { compat } = this.settings;
    const { ignored, ...parsed } = parseAsr(
      { ...query, model: query.model ?? compat.asrModel },
      this.catalog.usableBy(principalOf(reply.request)),
      compat,
    );
    const all = { ...parsed, ignored: [...ignored, ...this.#unknown(AsrQueryDto, sent)] };
    return this.transcripts.answer(form, reply, () => all, asrAudio(query));
  }

  @Post('detect-language')
  @describesAsr()
  @ApiOkResponse({ type: DetectedLanguageDto })
  detect(
    @Query() query: DetectLanguageQueryDto,
    @Query() sent: Fields,
    @Form() form: FormSource,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const model = query.model ?? this.settings.compat.asrModel;
    const parsed = parseTranscription(
      { model },
      this.catalog.usableBy(principalOf(reply.request)),
      this.settings.compat,
    );
    const [only, ...others] = parsed.model.languages;
    const write: ParsedTranscription['write'] = ({ language }) => {
      const heard = language === '' && others.length === 0 ? only : language;
      return {
        contentType: 'application/json; charset=utf-8',
        body: writeJson(detected(heard ?? '')),
      };
    };
    const audio = asrAudio(query, DETECTION_SECONDS);
    const ignored = this.#unknown(DetectLanguageQueryDto, sent);
    return this.transcripts.answer(form, reply, () => ({ ...parsed, ignored, write }), audio);
  }

  /** Advice of other programs (D-34). @throws DomainError where nothing may be ignored */
  #unknown(query: NewableFunction, sent: Fields): readonly string[] {
    const ignored = new IgnoredFields(this.settings.compat.strict);
    ignored.unknown(rulesOf(query), sent);
    return ignored.paths;
  }
}

function detected(tag: string): DetectedLanguageDto {
  if (tag === '')
    throw new DomainError('engine_failed', 'The model does not tell which language it recognised.');
  const [code = tag] = tag.split('-', 1);
  return {
    detected_language: languageName(tag),
    language_code: code.toLowerCase(),
    confidence: null,
  };
}
