import { openAiPageAnswer } from '../../../http/openapi/answer.js';
import { BatchDto } from './batch.dto.js';

export class BatchListDto extends openAiPageAnswer(BatchDto) {}
