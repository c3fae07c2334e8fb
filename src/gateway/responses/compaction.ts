import { type ResponseItem } from '../../contracts/openai/response-items.js';
import { type ResponseObject } from '../../contracts/openai/responses.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { piecesOf, usageAmong } from '../text/generation-pieces.js';
import { newId } from './response-object.js';

/** Opaque to clients: what this gateway can read again begins so. */
const MARK = 'switchyard1.';

/** The last message of a conversation that its model sums up. */
export const SUM_UP =
  'Sum up this conversation for somebody who has to continue it and cannot read it: what was asked, ' +
  'what was done and found, what was decided, what is still to be done. Keep names, numbers, paths ' +
  'and quotations that are still needed. Answer with the summary only.';

/**
 * `POST /v1/responses/compact`: what the client sends in place of the conversation, which
 * are its messages but for those of the model, and the summary.
 * @param answer what the model made of the conversation and `SUM_UP`
 * @throws DomainError `engine_failed` when it made no text
 */
export function compactionOf(
  { id, created_at }: ResponseObject,
  conversation: readonly ResponseItem[],
  answer: Buffer,
): object {
  const pieces = piecesOf(answer);
  const texts = pieces.map(piece => (piece.type === 'text' ? piece.text : ''));
  const summary = texts.join('').trim();
  if (summary === '')
    throw new DomainError('engine_failed', 'The model wrote no summary.');
  const encrypted_content = MARK + Buffer.from(summary).toString('base64url');
  const kept = conversation.filter(
    item => item.type === 'message' && item.role !== 'assistant',
  );
  return {
    id,
    object: 'response.compaction',
    created_at,
    output: [...kept, { id: newId('cmp'), type: 'compaction', encrypted_content }],
    usage: usageAmong(pieces) ?? null,
  };
}

/** An item `compaction` as a message. Undefined: another server made it. */
export function messageOfCompaction(content: unknown): object | undefined {
  if (typeof content !== 'string' || !content.startsWith(MARK)) return undefined;
  const summary = Buffer.from(content.slice(MARK.length), 'base64url').toString('utf8');
  const text = `Summary of the conversation so far:\n${summary}`;
  return { type: 'message', role: 'user', content: [{ type: 'input_text', text }] };
}
