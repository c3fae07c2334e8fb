import { Inject, Injectable } from '@nestjs/common';
import { type FastifyReply } from 'fastify';
import { languageName } from '../../contracts/formats/language-name.js';
import {
  type AsrQueryDto,
  type DetectedLanguageDto,
  type DetectLanguageQueryDto,
} from '../../contracts/whisper-asr/asr.dto.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { SETTINGS, type Settings } from '../../platform/config/settings.js';
import { type FormSource } from '../http/multipart-form.js';
import { ModelCatalog } from '../models/model-catalog.js';
import {
  type ParsedTranscription,
  parseTranscription,
} from '../audio/parse-transcription.js';
import {
  type TranscriptionForm,
  TranscriptionService,
} from '../audio/transcription.service.js';
import { parseAsr } from './parse-asr.js';
import { rawPcmAsWav } from './raw-pcm.js';

/** What Whisper looks at to tell a language. */
const DETECTION_SECONDS = 30;

/** The routes of whisper-asr-webservice, which subtitle programs such as Bazarr call. */
@Injectable()
export class WhisperAsrService {
  constructor(
    private readonly transcripts: TranscriptionService,
    private readonly catalog: ModelCatalog,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  /** `POST /asr`. @throws DomainError for everything that is not an answer */
  transcribe(query: AsrQueryDto, form: FormSource, reply: FastifyReply): Promise<void> {
    query.model ??= this.settings.compat.asrModel;
    const parsed = parseAsr(query, this.catalog, this.settings.compat);
    return this.transcripts.run({ ...audioOf(query), parse: () => parsed }, form, reply);
  }

  /** `POST /detect-language`. @throws DomainError for everything that is not an answer */
  detectLanguage(
    query: DetectLanguageQueryDto,
    form: FormSource,
    reply: FastifyReply,
  ): Promise<void> {
    const model = query.model ?? this.settings.compat.asrModel;
    const parsed = parseTranscription({ model }, this.catalog, this.settings.compat);
    const [only, ...others] = parsed.model.languages;
    const write: ParsedTranscription['write'] = ({ language }) => {
      const heard = language === '' && others.length === 0 ? only : language;
      return {
        contentType: 'application/json; charset=utf-8',
        body: JSON.stringify(detected(heard ?? '')),
      };
    };
    const audio = audioOf(query, DETECTION_SECONDS);
    return this.transcripts.run(
      { ...audio, parse: () => ({ ...parsed, write }) },
      form,
      reply,
    );
  }
}

const audioOf = (
  { encode }: DetectLanguageQueryDto,
  mostSeconds?: number,
): Omit<TranscriptionForm, 'parse'> => ({
  part: 'audio_file',
  receive: encode ? undefined : source => rawPcmAsWav(source, mostSeconds),
});

function detected(tag: string): DetectedLanguageDto {
  if (tag === '')
    throw new DomainError(
      'engine_failed',
      'The model does not tell which language it recognised.',
    );
  const [code = tag] = tag.split('-', 1);
  return {
    detected_language: languageName(tag),
    language_code: code.toLowerCase(),
    confidence: null,
  };
}
