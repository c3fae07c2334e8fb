import { ApiPropertyOptional } from '@nestjs/swagger';

const STATUSES = ['queued', 'running', 'completed', 'failed', 'cancelled'] as const;

/** What a request has besides, when its answer is kept (`Prefer: respond-async`, `Idempotency-Key`). */
export class StoredFieldsDto {
  @ApiPropertyOptional({ enum: STATUSES, description: 'Of a kept request; ended once its content can be fetched.' })
  status?: (typeof STATUSES)[number];

  @ApiPropertyOptional({ example: '/v1/audio/transcriptions' }) endpoint?: string;
  @ApiPropertyOptional({ description: 'Unix seconds.' }) created_at?: number;
  @ApiPropertyOptional({ description: 'Unix seconds.' }) completed_at?: number;
  @ApiPropertyOptional({ description: 'Unix seconds; afterwards it is forgotten.' }) expires_at?: number;
  @ApiPropertyOptional({ description: 'Status of its answer.', example: 200 }) status_code?: number;
  @ApiPropertyOptional({ description: 'Its answer as it would have been sent.' }) content_url?: string;
  @ApiPropertyOptional({ description: 'Its answer, when that is JSON of at most 64 KiB.', type: Object })
  result?: unknown;
  @ApiPropertyOptional({ description: 'Why it failed or was cancelled, as in the envelope.', type: Object })
  error?: unknown;
}
