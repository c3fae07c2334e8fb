import { type StoredRequest } from '../../core/request/stored-request.port.js';
import { type StoredFieldsDto } from './stored-request.dto.js';

const seconds = (ms: number): number => Math.floor(ms / 1000);

/** What the table knows of a request. @param waits it is known to stand in a queue */
export function keptFields(kept: StoredRequest, waits: boolean): StoredFieldsDto {
  const { status, requestId, path, createdAtMs, endedAtMs, expiresAtMs, answer } = kept;
  const ended = endedAtMs !== undefined;
  return {
    status: ended ? (status as StoredFieldsDto['status']) : waits ? 'queued' : 'running',
    endpoint: path,
    created_at: seconds(createdAtMs),
    ...(ended && { completed_at: seconds(endedAtMs) }),
    expires_at: seconds(expiresAtMs),
    ...(answer && { status_code: answer.status, content_url: `/v1/requests/${requestId}/content` }),
  };
}
