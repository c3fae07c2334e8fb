import {
  CreateMessageRequest,
  MessageInputRequest,
} from '../../../contracts/messages/message.dto.js';
import { OllamaChatRequest } from '../../../contracts/ollama/chat.dto.js';
import { OllamaEmbedRequest } from '../../../contracts/ollama/embed.dto.js';
import { OllamaGenerateRequest } from '../../../contracts/ollama/generate.dto.js';
import { OllamaShowRequest, OllamaTransferRequest } from '../../../contracts/ollama/model.dto.js';
import { BatchCreateDto, BatchListQueryDto } from '../../../contracts/openai/batch.dto.js';
import { ChatCompletionDto } from '../../../contracts/openai/chat-completion.dto.js';
import { CompletionDto } from '../../../contracts/openai/completion.dto.js';
import { EmbeddingDto } from '../../../contracts/openai/embedding.dto.js';
import { type FieldRules, honoured } from '../../../contracts/openai/field-types.js';
import { rulesOf, Unlisted } from '../../../contracts/openai/field.decorators.js';
import { FileCreateDto, FileListQueryDto } from '../../../contracts/openai/file.dto.js';
import { RerankDto } from '../../../contracts/openai/rerank.dto.js';
import {
  CreateResponseRequest,
  ResponseInputRequest,
} from '../../../contracts/openai/response.dto.js';
import { SpeechDto } from '../../../contracts/openai/speech.dto.js';
import {
  InputItemsQueryDto,
  RetrieveQueryDto,
} from '../../../contracts/openai/stored-response.dto.js';
import { DetokenizeDto, TokenizeDto } from '../../../contracts/openai/token.dto.js';
import { TranscriptionDto } from '../../../contracts/openai/transcription.dto.js';
import { TranslationDto } from '../../../contracts/openai/translation.dto.js';
import { UploadCompleteDto } from '../../../contracts/openai/upload-complete.dto.js';
import { UploadCreateDto, UploadPartCreateDto } from '../../../contracts/openai/upload.dto.js';
import { AsrFormDto, AsrQueryDto } from '../../../contracts/whisper-asr/asr.dto.js';
import { DetectLanguageQueryDto } from '../../../contracts/whisper-asr/detect-language.dto.js';

class VoiceQueryDto {
  @Unlisted(honoured('Absent: all speech models.'))
  model?: unknown;
}

/** Classes of the multipart fields, query parameters and bodies of every public route. */
export const REQUEST_DTOS = {
  'POST /v1/audio/transcriptions': [TranscriptionDto],
  'POST /v1/audio/translations': [TranslationDto],
  'POST /v1/audio/speech': [SpeechDto],
  'GET /v1/audio/voices': [VoiceQueryDto],
  'POST /asr': [AsrFormDto, AsrQueryDto],
  'POST /detect-language': [AsrFormDto, DetectLanguageQueryDto],
  'POST /v1/chat/completions': [ChatCompletionDto],
  'POST /v1/messages': [CreateMessageRequest],
  'POST /v1/messages/count_tokens': [MessageInputRequest],
  'POST /v1/responses': [CreateResponseRequest],
  'POST /v1/responses/input_tokens': [ResponseInputRequest],
  'POST /v1/responses/compact': [ResponseInputRequest],
  'GET /v1/responses/{id}': [RetrieveQueryDto],
  'GET /v1/responses/{id}/input_items': [InputItemsQueryDto],
  'POST /v1/completions': [CompletionDto],
  'POST /v1/embeddings': [EmbeddingDto],
  'POST /v1/rerank': [RerankDto],
  'POST /tokenize': [TokenizeDto],
  'POST /detokenize': [DetokenizeDto],
  'POST /api/chat': [OllamaChatRequest],
  'POST /api/generate': [OllamaGenerateRequest],
  'POST /api/embed': [OllamaEmbedRequest],
  'POST /api/show': [OllamaShowRequest],
  'POST /api/pull': [OllamaTransferRequest],
  'POST /api/push': [OllamaTransferRequest],
  'POST /v1/files': [FileCreateDto],
  'GET /v1/files': [FileListQueryDto],
  'POST /v1/uploads': [UploadCreateDto],
  'POST /v1/uploads/{id}/parts': [UploadPartCreateDto],
  'POST /v1/uploads/{id}/complete': [UploadCompleteDto],
  'POST /v1/batches': [BatchCreateDto],
  'GET /v1/batches': [BatchListQueryDto],
} as const;

/**
 * Every field of every public route: what happens to it, and why. A spec holds it equal
 * to what the routes do; `docs/reference/fields.md` is made of it.
 */
export const REQUEST_FIELDS = Object.fromEntries(
  Object.entries(REQUEST_DTOS).map(([route, types]) => [route, rulesOf(...types)]),
) as Readonly<Record<keyof typeof REQUEST_DTOS, FieldRules>>;
