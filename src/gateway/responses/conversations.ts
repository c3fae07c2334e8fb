import { Inject, Injectable, Optional } from '@nestjs/common';
import { type ItemReference, type ResponseItem, type ResponseRequest } from '../../contracts/openai/responses.js';
import { DomainError } from '../../core/shared/domain-error.js';
import { RESPONSE_STORE, type ResponseStore } from './response-store.port.js';

export interface KnownConversation {
  /** Without references. */
  readonly input: readonly ResponseItem[];
  /** What came before, and the input. */
  readonly all: readonly ResponseItem[];
}

/** What a request continues. */
@Injectable()
export class Conversations {
  constructor(@Optional() @Inject(RESPONSE_STORE) private readonly store?: ResponseStore) {}

  /** @throws DomainError for what is unknown, or when nothing was said at all */
  async of(tenant: string, request: ResponseRequest): Promise<KnownConversation> {
    const { previous_response_id: previous } = request;
    const earlier = previous !== null && this.store ? await this.store.conversation(tenant, previous) : [];
    const input = await this.#resolved(tenant, request.input, earlier);
    const all = [...earlier, ...input];
    if (all.length > 0 || request.instructions !== null) return { input, all };
    throw new DomainError('missing_required_parameter', '`input` is required: it must hold at least one item.', {
      param: 'input',
    });
  }

  async #resolved(
    tenant: string,
    input: ResponseRequest['input'],
    earlier: readonly ResponseItem[],
  ): Promise<readonly ResponseItem[]> {
    const wanted = input.filter(item => item.type === 'item_reference').map(({ id }) => id);
    const known = new Map(earlier.map(item => [item.id, item]));
    const missing = [...new Set(wanted)].filter(id => !known.has(id));
    const found = missing.length > 0 ? await this.store?.items(tenant, missing) : undefined;
    for (const item of found ?? []) known.set(item.id, item);
    return input.map((item, index) => (item.type === 'item_reference' ? itemOf(item, index, known) : item));
  }
}

function itemOf({ id }: ItemReference, index: number, known: ReadonlyMap<string, ResponseItem>): ResponseItem {
  const item = known.get(id);
  if (item) return item;
  const param = `input[${index}].id`;
  throw new DomainError('invalid_value', `Item with id '${id}' not found: items are known while they are stored.`, {
    param,
  });
}
