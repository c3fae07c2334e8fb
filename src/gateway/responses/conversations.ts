import { Inject, Injectable, Logger, Optional } from '@nestjs/common';
import { MOST_ITEMS } from '../../contracts/openai/response.dto.js';
import {
  type ItemReference,
  type ResponseItem,
} from '../../contracts/openai/response-items.js';
import { type ResponseRequest } from '../../contracts/openai/responses.js';
import { DomainError } from '../../core/errors/domain-error.js';
import {
  RESPONSE_STORE,
  type ResponseStore,
  type StoredResponse,
} from './response-store.port.js';

export interface KnownConversation {
  /** Without references. */
  readonly input: readonly ResponseItem[];
  /** What came before, and the input. */
  readonly all: readonly ResponseItem[];
}

type Continuing = Pick<
  ResponseRequest,
  'previous_response_id' | 'input' | 'instructions' | 'store'
>;

/** What a request continues, and what it leaves to be continued. */
@Injectable()
export class Conversations {
  readonly #logger = new Logger(Conversations.name);

  constructor(
    @Optional() @Inject(RESPONSE_STORE) private readonly store?: ResponseStore,
  ) {}

  /** @throws DomainError for what is unknown, or when nothing was said at all */
  async of(tenant: string, request: Continuing): Promise<KnownConversation> {
    const { previous_response_id: previous } = request;
    if (request.store) await this.store?.demandRoom(tenant);
    const earlier =
      previous !== null && this.store
        ? await this.store.conversation(tenant, previous)
        : [];
    const input = await this.#resolved(tenant, request.input, earlier);
    const all = [...earlier, ...input];
    if (all.length > MOST_ITEMS) throw tooLong(all.length);
    if (all.length > 0 || request.instructions !== null) return { input, all };
    throw new DomainError(
      'missing_required_parameter',
      '`input` is required: it must hold at least one item.',
      {
        param: 'input',
      },
    );
  }

  /**
   * A caller that continues from the response can rely on it. @returns whether
   * it is stored
   */
  async save(tenant: string, stored: StoredResponse): Promise<boolean> {
    try {
      await this.store?.save(tenant, stored);
      return this.store !== undefined;
    } catch (error) {
      this.#logger.error(`response ${stored.response.id} could not be stored`, error);
      return false;
    }
  }

  async #resolved(
    tenant: string,
    input: ResponseRequest['input'],
    earlier: readonly ResponseItem[],
  ): Promise<readonly ResponseItem[]> {
    const wanted = input.flatMap(item =>
      item.type === 'item_reference' ? [item.id] : [],
    );
    const missing = new Set(wanted);
    // An item of megabytes, referenced in thousands of places, would become gigabytes.
    if (missing.size < wanted.length)
      throw invalidInput('must reference each item at most once');
    const known = new Map(earlier.map(item => [item.id, item]));
    for (const id of known.keys()) missing.delete(id);
    const found = missing.size > 0 ? await this.store?.items(tenant, missing) : undefined;
    for (const item of found ?? []) known.set(item.id, item);
    return input.map((item, index) =>
      item.type === 'item_reference' ? itemOf(item, index, known) : item,
    );
  }
}

const tooLong = (items: number): DomainError =>
  invalidInput(
    `and what it continues may have at most ${MOST_ITEMS} items; got ${items}`,
  );

const invalidInput = (rule: string): DomainError =>
  new DomainError('invalid_value', `\`input\` ${rule}.`, { param: 'input' });

function itemOf(
  { id }: ItemReference,
  index: number,
  known: ReadonlyMap<string, ResponseItem>,
): ResponseItem {
  const item = known.get(id);
  if (item) return item;
  const param = `input[${index}].id`;
  throw new DomainError(
    'invalid_value',
    `Item with id '${id}' not found: items are known while they are stored.`,
    {
      param,
    },
  );
}
